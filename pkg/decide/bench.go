//go:build !nocel

package decide

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// Bench is the environment for the examples of policies: a workspace that is a
// small git repository on the branch topic, with main and topic on the remote
// origin, and an empty home directory. Nothing in it is executed.
type Bench struct {
	root    string
	deriver *facts.Deriver
}

// benchFiles holds the files of the workspace.
var benchFiles = map[string]string{
	".git/HEAD":                     "ref: refs/heads/topic\n",
	".git/config":                   benchConfig,
	".git/refs/heads/topic":         benchCommit,
	".git/refs/heads/main":          benchCommit,
	".git/refs/remotes/origin/main": benchCommit,
	"README.md":                     "# Example\n",
	"go.mod":                        "module example\n",
	"package.json":                  "{}\n",
	"Makefile":                      "all:\n",
	"src/main.go":                   "package main\n",
	"../home/.local/bin/ethos-git":  "",
}

const (
	benchCommit = "1234567890123456789012345678901234567890\n"
	benchConfig = "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://example.com/x.git\n" +
		"\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"topic\"]\n\tremote = origin\n\tmerge = refs/heads/topic\n"
)

// NewBench creates the workspace; Close removes it.
func NewBench() (*Bench, error) {
	root, err := os.MkdirTemp("", "ethos-check-")
	if err != nil {
		return nil, fmt.Errorf("make a work space for the examples: %w", err)
	}
	b := &Bench{root: root}
	if err = b.fill(); err == nil {
		home := filepath.Join(root, "home")
		b.deriver, err = facts.New(facts.Options{Home: home, Git: gitrepo.Options{Home: home}, Programs: []string{filepath.Join(home, ".local/bin"), "/usr/local/bin", "/usr/bin"}})
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("make a work space for the examples: %w", err)
	}
	return b, nil
}

func (b *Bench) fill() error {
	real, err := filepath.EvalSymlinks(b.root)
	if err != nil {
		return err
	}
	b.root = real
	for _, dir := range []string{"home", "work/.git/objects", "work/build"} {
		if err := os.MkdirAll(filepath.Join(b.root, dir), 0o700); err != nil {
			return err
		}
	}
	for name, text := range benchFiles {
		path := filepath.Join(b.root, "work", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return os.Symlink("ethos-git", filepath.Join(b.root, "home/.local/bin/git"))
}

// Close removes the workspace.
func (b *Bench) Close() { os.RemoveAll(b.root) }

// Place moves an example's action into the workspace. Its Cwd is relative.
func (b *Bench) Place(a record.Action) (record.Action, error) {
	a.Cwd = filepath.Join(b.root, "work", a.Cwd)
	return b.deriver.Place(a)
}

// Facts implements [policy.FactsFunc].
func (b *Bench) Facts(_ context.Context, a record.Action, by record.Actor) (record.Action, record.Facts, error) {
	placed, err := b.Place(a)
	if err != nil {
		return placed, record.Facts{}, err
	}
	f, err := b.deriver.Derive(placed, by)
	return placed, f, err
}

var _ policy.FactsFunc = (*Bench)(nil).Facts

// RunExamples fails if an example is wrong.
func RunExamples(set *policy.Set) error {
	b, err := NewBench()
	if err != nil {
		return err
	}
	defer b.Close()
	wrong, err := set.Prove(context.Background(), b.Facts)
	if err == nil && len(wrong) > 0 {
		err = errorf("fix the policy or the example, then run ethos-decide check; nothing was decided", "%s (wrong examples: %d)", wrong[0], len(wrong))
	}
	return err
}
