package seatbelt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/plan"
)

const (
	home = "/home/u"
	work = home + "/w"
)

// basic is a work space without a repository.
func basic() (faketree.Tree, plan.Spec) {
	t := faketree.Tree{}
	t.File("/usr/bin/sh", "")
	t.File("/private/etc/hosts", "")
	t.File(home+"/.ssh/id", "")
	t.File(home+"/.cache/go-build/00/kept", "")
	t.File("/srv/data/in/deep/file", "")
	t.File(work+"/src/main.go", "")
	t.File(work+"/src/kept/file", "")
	t.File(work+"/secret/key", "")
	t.File(work+"/secret/open/readme", "")
	return t, plan.Spec{
		Asked: capability.OnProfile("workspace"), Argv: []string{"make"}, Dir: work, Workspace: work, Environ: []string{"HOME=" + home, "PATH=/usr/bin"}, Backend: plan.Seatbelt,
	}
}

// build makes a plan of the basic work space with a change.
func build(t *testing.T, change func(faketree.Tree, *plan.Spec)) *plan.Plan {
	t.Helper()
	tree, spec := basic()
	if change != nil {
		change(tree, &spec)
	}
	p, err := plan.Build(spec, tree, faketree.User)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// repository makes the work space a git repository with settings.
func repository(t faketree.Tree) {
	gitDir(t, work+"/.git")
	t.File(work+"/.claude/settings.json", "")
}

func gitDir(t faketree.Tree, dir string) {
	t.File(dir+"/HEAD", "ref: refs/heads/main\n")
	t.File(dir+"/objects/pack/p", "")
	t.File(dir+"/refs/heads/main", "")
	t.File(dir+"/config", "[core]\n")
	t.File(dir+"/hooks/pre-commit", "")
}

// worktree makes the work space a linked work tree of a repository beside it.
func worktree(t faketree.Tree) {
	gitDir(t, home+"/repo/.git")
	t.File(work+"/.git", "gitdir: "+home+"/repo/.git/worktrees/w\n")
	t.File(home+"/repo/.git/worktrees/w/gitdir", work+"/.git\n")
	t.File(home+"/repo/.git/worktrees/w/commondir", "../..\n")
	t.File(home+"/repo/.git/worktrees/w/HEAD", "")
}

// words are the names of random paths. Some of them are spelt alike but for case, or hold what a profile has to escape.
var words = []string{"src", "main.go", "secret", "open", "kept", "a b", `q"uote`, `back\slash`, "(x)*.[y]$", "größe", ".git", "hooks", "config", ".claude", ".mcp.json", "new", "first", "desk"}

func randomPath(r *rand.Rand) string {
	path := []string{work, work, home, "/srv/data", "/usr", "/private/etc"}[r.IntN(6)]
	for range r.IntN(4) {
		path += "/" + words[r.IntN(len(words))]
	}
	return path
}

// randomPlan is a plan of a random work space with random declarations.
func randomPlan(seed uint64) (*plan.Plan, error) {
	r := rand.New(rand.NewPCG(seed, seed))
	tree, spec := basic()
	for _, some := range []func(faketree.Tree){
		repository, worktree, func(t faketree.Tree) { gitDir(t, work+"/sub/.git") }, func(t faketree.Tree) { t.File(work+"/a/.claude/settings.json", "") },
		func(t faketree.Tree) { t.Link(work+"/.mcp.json", "not/there") }, func(t faketree.Tree) { t.File(work+"/.coding-ethos/traces/1", "") },
		func(t faketree.Tree) { t.Link(work+"/out", "/srv/data") }, func(t faketree.Tree) { t.Socket(work + "/server") },
	} {
		if r.IntN(4) == 0 {
			some(tree)
		}
	}
	some := func(most int, mark string) (list []string) {
		for range r.IntN(most + 1) {
			if path := randomPath(r); !strings.Contains(path, "*") {
				list = append(list, path+mark)
			}
		}
		return list
	}
	for range r.IntN(6) {
		if path := randomPath(r); tree[path] == nil && strings.HasPrefix(path, work+"/") {
			tree.File(path+"/file", "")
		}
	}
	profiles := []string{"lint-offline", "workspace", "agent-shell", "build"}
	spec.Asked = capability.OnProfile(profiles[r.IntN(len(profiles))])
	spec.ReadPaths, spec.WritePaths, spec.DenyReadPaths, spec.DenyWritePaths = some(2, "?"), some(2, "?"), some(3, ""), some(3, "")
	spec.AllowReadWithinDeny, spec.DenyExecPaths = some(1, "?"), some(1, "")
	return plan.Build(spec, tree, faketree.User)
}
