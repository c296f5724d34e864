package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// twoRuns is an attack that needs two runs, with the person at work between and after them. Every script has $evil, a
// program that leaves a mark, and the work space as its directory.
type twoRuns struct {
	setup, first, between, second, after string
	// own says that it is no attack: what leaves the mark is the person's.
	own bool
}

const nested = `git init -q n; git -C n commit -q --allow-empty -m x
`

var inTwoRuns = map[string]twoRuns{
	"planted where nobody may look": {
		first:  `mkdir a; git init -q a/n; git -C a/n config core.fsmonitor $evil; chmod 000 a`,
		second: `chmod 755 a`,
		after:  `git -C a/n status`,
	},
	"planted where nobody may look, and moved": {
		first:  `mkdir -p a/b; git init -q a/b/n; git -C a/b/n config core.fsmonitor $evil; chmod 000 a/b`,
		second: `chmod 755 a/b; mv a/b/n n`,
		after:  `git -C n status`,
	},
	"planted where nobody may look, opened by the person": {
		first:   `mkdir a; git init -q a/n; git -C a/n config core.fsmonitor $evil; chmod 000 a`,
		between: `chmod 755 a || :`,
		second:  `:`,
		after:   `git -C a/n status`,
	},
	"planted among packages, and moved out": {
		setup:  `mkdir node_modules`,
		first:  `git init -q node_modules/n; git -C node_modules/n config core.fsmonitor $evil`,
		second: `mv node_modules/n n`,
		after:  `git -C n status`,
	},
	"the halves of a git directory": {
		first:  `mkdir a; printf 'ref: refs/heads/main\n' > a/HEAD; mkdir a/refs; printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = %s\n' $evil > a/config`,
		second: `mkdir a/objects`,
		after:  `git -C a status`,
	},
	"the placeholders of what was there": {
		setup:  "mkdir a; cd a; " + nested,
		first:  `chmod 000 a`,
		second: `chmod 755 a; mkdir -p a/n/.git/hooks; cp $evil a/n/.git/hooks/post-commit; chmod 755 a/n/.git/hooks/post-commit; git -C a/n config core.fsmonitor $evil`,
		after:  `git -C a/n commit --allow-empty -m y; git -C a/n status`,
	},
	"a directory that looks remembered": {
		first:  `git init -q n; git -C n commit -q --allow-empty -m x; touch -d 2001-01-01 n/.git n/.git/config n`,
		second: `git -C n config core.fsmonitor $evil; touch -d 2001-01-01 n/.git n/.git/config n`,
		after:  `git -C n status`,
	},
	"a directory in the place of one that is remembered": {
		first:  `mkdir -p a/n b/n; touch -d 2001-01-01 a/n b/n a b`,
		second: `git init -q b/n; git -C b/n config core.fsmonitor $evil; rmdir a/n; mv b/n a/n; touch -d 2001-01-01 a/n a b`,
		after:  `git -C a/n status`,
	},
	"a rebase that the person begins": {
		setup:   nested + `git -C n commit -q --allow-empty -m y`,
		first:   `:`,
		between: `GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git -C n rebase -q -i --keep-empty HEAD~1`,
		second:  `printf 'exec %s\n' $evil >> n/.git/rebase-merge/git-rebase-todo`,
		after:   `git -C n rebase --continue`,
	},
	"an include that the first run names": {
		first:  `git init -q n; git -C n config include.path ../more; : > n/more`,
		second: `printf '[core]\n\tfsmonitor = %s\n' $evil > n/more`,
		after:  `git -C n status`,
	},
	"a submodule that the person fetches": {
		setup:   `git init -q .; git -c protocol.file.allow=always submodule --quiet add "$PWD/../up" s; git commit -qm s`,
		first:   `git submodule deinit -q -f s`,
		between: `git -c protocol.file.allow=always submodule --quiet update --init`,
		second:  `mkdir -p .git/modules/s/hooks; cp $evil .git/modules/s/hooks/post-checkout; git -C s config core.fsmonitor $evil`,
		after:   `git -C s status; git -C s checkout -q --detach`,
	},
	"what was put aside, put back": {
		first:  `git init -q n; git -C n config core.fsmonitor $evil`,
		second: `cp .coding-ethos/quarantine/*/n/.git.quarantined/config.quarantined n/.git/config; mv .coding-ethos/quarantine/*/n x`,
		after:  `git -C n status`,
	},
	"the directory of ethos, before there is one": {
		first:  `mkdir -p .coding-ethos/n; git init -q .coding-ethos/n; git -C .coding-ethos/n config core.fsmonitor $evil`,
		second: `mv .coding-ethos/n n`,
		after:  `git -C n status; git -C .coding-ethos/n status`,
	},
	"the directory of ethos in git's": {
		first:  `git init -q .; mkdir -p .git/coding-ethos; : > .git/coding-ethos/placeholders; git init -q .git/coding-ethos/n; git -C .git/coding-ethos/n config core.fsmonitor $evil`,
		second: `mv .git/coding-ethos/n n`,
		after:  `git -C n status; cd .git/coding-ethos/n && git status`,
	},
	"settings of the person's": {
		setup:   nested,
		first:   `:`,
		between: `git -C n config core.fsmonitor $evil`,
		second:  `git -C n commit -q --allow-empty -m y`,
		after:   `git -C n status`,
		own:     true,
	},
	"a repository of the person's": {
		first:   `mkdir n; : > n/f`,
		between: `git init -q n; git -C n config core.fsmonitor $evil`,
		second:  `git -C n add f; git -C n commit -q -m y; mv n m`,
		after:   `git -C m status || git -C n status`,
		own:     true,
	},
}

// TestTwoRuns: what one run leaves does nothing by the help of another, nor by what the person does between them.
// Without ethos each of these does.
func TestTwoRuns(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git")
	for name, c := range shorttest.SampleMap(inTwoRuns, 6) {
		t.Run(name, func(t *testing.T) {
			if c.try(t, false) == "" {
				t.Error("without ethos it does nothing: it is no attack")
			}
			if did := c.try(t, true); (did != "") != c.own {
				t.Errorf("with ethos: %q", did)
			}
		})
	}
}

// try carries an attack out and returns the mark that it left.
func (c twoRuns) try(t *testing.T, confined bool) (mark string) {
	t.Helper()
	dir := space(t)
	base := filepath.Dir(dir)
	evil, at := base+"/out/evil", base+"/out/mark"
	environ := []string{"evil=" + evil, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
	person := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env = dir, append(sandboxed(t, dir).Env, environ...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v: %s", script, err, out)
		}
	}
	person(`mkdir ../out; printf '#!/bin/sh\necho ran >> "` + at + `"\n' > $evil; chmod 755 $evil; git init -q ../up; git -C ../up commit -q --allow-empty -m x`)
	person(c.setup)
	command := func(script string) {
		t.Helper()
		if !confined {
			person(script)
			return
		}
		args := []string{"run", "--ro", base + "/out"}
		for _, v := range environ {
			if !strings.HasPrefix(v, "GIT_CONFIG") {
				args = append(args, "--env", v)
			}
		}
		cmd := sandboxed(t, dir, append(args, "--", "sh", "-c", script)...)
		out, err := cmd.CombinedOutput()
		t.Logf("%s: %v: %s", script, err, out)
		if cmd.ProcessState.ExitCode() == 125 {
			t.Errorf("it was refused: %s", out)
		}
	}
	command(c.first)
	person(c.between)
	command(c.second)
	if !c.own {
		os.Remove(at) // what git of the command itself ran
	}
	person(c.after)
	t.Cleanup(func() { exec.Command("chmod", "-R", "u+rwx", base).Run() })
	text, err := os.ReadFile(at)
	if err != nil {
		return ""
	}
	return string(text)
}
