package main

import (
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// threeCommits makes the repository r, with three commits of one file each.
const threeCommits = `rm -rf r x && git init -q r && cd r && for i in one two three; do echo $i >$i && git add $i && git commit -q -m $i; done; `

// TestTransparentRepositories compares git and ethos-git where the repository is to come, named, or not as usual.
func TestTransparentRepositories(t *testing.T) {
	w := newWorld(t)
	for _, script := range shorttest.Sample([]string{
		`rm -rf x; mkdir x && cd x && git --bare init && ls`,
		`rm -rf x; mkdir x && cd x && GIT_DIR=foo git init && ls -A && git --git-dir=bar init && git --git-dir=bar --work-tree=. status -s`,
		threeCommits + `GIT_DIR=foo git init; git --git-dir=nope commit -m x; GIT_DIR=nope git push; git --git-dir=nope status; ls -A`,
		threeCommits + `cd ..; GIT_DIR=.git git -C r commit --allow-empty -q -m four; git --git-dir=.git -C r commit -q --allow-empty -m five; git -C r log --format=%s`,
		threeCommits + `git config core.worktree ../missing; git status; git commit --allow-empty -m x; git config --unset core.worktree; git status -s`,
		threeCommits + `git config foo.x 1; git config --rename-section foo bar; git remote add o ../x; git config --rename-section remote.o remote.p; git config --list --local`,
		`rm -rf tpl n m; mkdir -p tpl/info tpl/hooks; echo x >tpl/info/exclude; : >tpl/hooks/pre-commit.sample; GIT_TEMPLATE_DIR=$PWD/tpl git init -q n; cat n/.git/info/exclude; git init -q --template=$PWD/tpl m; ls m/.git/hooks`,
		threeCommits + `git checkout -q --orphan new && git rm -rf . && git status -s`,
		threeCommits + `git switch -q --orphan new && git rm -rf .`,
		threeCommits + `git -c alias.x=status x; git -c alias.l='log --oneline' l`,
	}, 5) {
		w.same(script)
	}
}

// TestTransparentEditors compares git and ethos-git where a text tool stands in an editor's place.
func TestTransparentEditors(t *testing.T) {
	shorttest.Long(t)
	w := newWorld(t)
	for _, script := range shorttest.Sample([]string{
		`GIT_EDITOR="sed -i s/three/drei/" git commit -q --amend; git log --format=%s`,
		`GIT_EDITOR="sed -i '1s/.*/a new subject/'" git commit -q --amend; git log --format=%s`,
		`echo "another subject" >../m; GIT_EDITOR="cp $HOME/m" git commit -q --amend; git log --format=%s; GIT_EDITOR="cat $HOME/m >" git commit -q --amend; rm ../m`,
		`GIT_SEQUENCE_EDITOR="sed -i '2s/pick/squash/'" GIT_EDITOR=true git rebase -q -i HEAD~2; git log --format=%B`,
		`GIT_SEQUENCE_EDITOR="sed -i -e 's/^pick/reword/'" GIT_EDITOR="sed -i s/t/T/" git rebase -q -i HEAD~2; git log --format=%s`,
		`GIT_EDITOR="sed -i 1d" git rebase -q -i HEAD~2; git log --format=%s`,
		`git -c sequence.editor='sed -i "1d;2s/pick/edit/"' rebase -q -i HEAD~3; git rebase --abort; git log --format=%s`,
		`echo four >four; git add four; git commit -q --fixup HEAD; GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~3; git log --format=%s`,
	}, 5) {
		w.same(threeCommits + script)
	}
}

// TestNothingListed: what ethos-git keeps of a work space is seen by no command of git, and git clean leaves it. A work tree that has a .coding-ethos keeps it.
func TestNothingListed(t *testing.T) {
	w := newWorld(t)
	const look = `git status --ignored -s; git clean -nxd; git grep --no-index -c .; git ls-files -o; git clean -fdx; git status --ignored -s; ls -A`
	w.same("unset ETHOS_STORE; " + threeCommits + look)
	out, errs, _ := w.script(true, `unset ETHOS_STORE; `+threeCommits+`git clean -fdx; cat .git/coding-ethos/traces/*/*/*.ndjson | wc -l; mkdir .coding-ethos; git status; ls .coding-ethos`)
	if out != "7\nOn branch main\nnothing to commit, working tree clean\n" {
		t.Errorf("%s%s", out, errs)
	}
}

// TestHiddenInEditors: what a text tool would do beside editing a message, or what it would write into what git executes, is refused before it happens. Each stands
// beside its allowed twin in TestTransparentEditors and TestTransparentRepositories.
func TestHiddenInEditors(t *testing.T) {
	shorttest.Long(t)
	w := newWorld(t)
	w.write("home/hooked/hooks/post-checkout", "#!/bin/sh\necho ran\n", 0o755)
	w.write("home/configured/config", "[core]\n\tfsmonitor = ./evil\n", 0o644)
	w.script(false, `mkdir linked; ln -s ../hooked/hooks linked/hooks; ln -s hooked plain; mkdir -p odd/hooks/x; printf '#!/bin/sh\necho ran\n' >odd/hooks/x/y.sample`)
	for _, script := range shorttest.Sample([]string{
		`GIT_EDITOR="sed -i '1e rm -rf ~'" git commit --amend`, // sed's e is a shell
		`GIT_EDITOR="sed -i s/a/b/; rm -rf $HOME" git commit --amend`,
		`GIT_EDITOR="cat $HOME/.ssh/id_rsa >" git commit --amend`,
		`git -c core.editor='sed -i s/a/b/; rm -rf ~' commit --amend`,
		`GIT_EDITOR="python3 -c 'import os'" git commit --amend`,
		`GIT_EDITOR="sed -i '\$a [core]fsmonitor=x'" git config -e`,
		`GIT_EDITOR="sed -i '1i exec touch ran'" git rebase -i HEAD~2`,
		`GIT_EDITOR="sed -i '1i exec touch ran'" git rebase --edit-todo`,
		`GIT_SEQUENCE_EDITOR="sed -i '1i exec touch ran'" git rebase -i HEAD~2`,
		`GIT_SEQUENCE_EDITOR="sed -i 's/^pick/x/'" git rebase -i HEAD~2`,
		`GIT_SEQUENCE_EDITOR="sed -i 's/^pick .* /x /'" git rebase -i HEAD~2`,
		`GIT_SEQUENCE_EDITOR="sed -i s/pick/edit/e" git rebase -i HEAD~2`,
		`GIT_SEQUENCE_EDITOR="sed -i s/pick/edit/;touch${IFS}ran" git rebase -i HEAD~2`,
		`GIT_SEQUENCE_EDITOR='sed -i $EDIT' git rebase -i HEAD~2`,
		`echo "exec touch ran" >../todo; GIT_SEQUENCE_EDITOR="cp $HOME/todo" git rebase -i HEAD~2`,
		`GIT_TEMPLATE_DIR=$HOME/hooked git init ../n`, `GIT_TEMPLATE_DIR=$HOME/configured git init ../n`, `GIT_TEMPLATE_DIR=$HOME/linked git init ../n`,
		`GIT_TEMPLATE_DIR=$HOME/plain git init ../n`, `GIT_TEMPLATE_DIR=../hooked git init ../n`, `GIT_TEMPLATE_DIR=$HOME/odd git init ../n`,
		`git config x.fsmonitor ./evil; git config --rename-section x core`, `git config x.y.clean ./evil; git config --rename-section x.y filter.y`,
		`printf '[x]\n\tfsmonitor = ./evil\n' >../other; GIT_CONFIG=../other git config --rename-section x core`, `git config -f ../other --rename-section x core`,
		`git config x.url ext::sh; git config --rename-section x 'core]
	fsmonitor = ./evil
[x'`,
		`git checkout -q -b topic; git rm -rf .`, `git rm -rf .`, `git checkout -q --orphan new; git rm -rf ..`,
		`ln -s .git other; mv .git/HEAD h; GIT_DIR=$PWD/h git push --force origin main`,
	}, 5) {
		w.script(false, "cd ~; rm -rf n todo")
		out, errs, status := w.script(true, threeCommits+script)
		if status != 125 || !strings.Contains(errs, "ethos-git: error: ") {
			t.Errorf("%s: %d %s%s", script, status, out, errs)
		}
		if out, _, _ := w.script(false, `ls r/ran n 2>/dev/null; git -C r config --get core.fsmonitor; ls r`); strings.Contains(out, "ran") || strings.Contains(out, "evil") {
			t.Errorf("%s: it happened: %s", script, out)
		}
	}
}
