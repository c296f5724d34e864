package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
)

// trusted keeps what git may run by itself in a work tree beside its trace store, where no confined command comes.
type trusted struct{}

const (
	trustedDir  = "trusted"
	trustedFile = "git"
	// trustedHead begins its first line, which goes on with the marks of the work tree; an entry is a line of its own.
	trustedHead = "ethos trusted git 2"
	// maxTrusted bounds the file; a repository has some dozens of hooks and settings.
	maxTrusted = 1 << 20
)

// Load implements gitguard.Trusted.
func (trusted) Load(root string) ([]string, error) {
	f, err := os.Open(filepath.Join(filepath.Dir(trace.DefaultDir(root)), trustedDir, trustedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTrusted))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if !strings.HasPrefix(lines[0], trustedHead+" ") {
		return nil, fmt.Errorf("read %s: it does not begin with %q", f.Name(), trustedHead)
	}
	marks, err := marksOf(root)
	if err != nil || lines[0] != trustedHead+" "+marks { // it came with the files, from another place
		return nil, err
	}
	return lines[1:], nil
}

// marksOf tells a work tree from a copy of it: the inodes of it and of its .git, 0 where that is elsewhere. Who makes an archive or a commit that others unpack cannot know them.
func marksOf(root string) (string, error) {
	var tree, git syscall.Stat_t
	if err := syscall.Stat(root, &tree); err != nil {
		return "", &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	if err := syscall.Stat(filepath.Join(root, ".git"), &git); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &fs.PathError{Op: "stat", Path: filepath.Join(root, ".git"), Err: err}
	}
	return fmt.Sprintf("%d %d", tree.Ino, git.Ino), nil
}

// Save implements gitguard.Trusted.
func (trusted) Save(root string, list []string) error {
	marks, err := marksOf(root)
	if err != nil {
		return err
	}
	dir, err := trace.Beside(root, trustedDir)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, trustedFile)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(strings.Join(append([]string{trustedHead + " " + marks}, list...), "\n") + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, trustedFile))
}

type trustCmd struct{}

// Run implements the command.
func (*trustCmd) Run(_ context.Context, sys *cli.System) error {
	g, err := newGuard(sys)
	if err != nil {
		return err
	}
	added, err := g.Trust(sys.Dir, sys.Getenv)
	if err != nil {
		return cli.Errorf(cli.Refused, "run it in the work tree of the repository, outside of any sandbox", "trust: %w", err)
	}
	for _, entry := range added {
		if err := sys.Printf("%s\n", entry); err != nil {
			return err
		}
	}
	return nil
}
