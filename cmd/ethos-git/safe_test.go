package main

import (
	"testing"

	"ethos/pkg/shorttest"
)

// TestDubiousBare: git enters no bare repository that it was not told of, and that is all.
func TestDubiousBare(t *testing.T) {
	shorttest.Long(t)
	w := newWorld(t)
	if _, errs, status := w.script(false, `git init -q repo && git -C repo commit -q --allow-empty -m one && git clone -q --bare repo ../remote.git`); status != 0 {
		t.Fatal(errs)
	}
	w.write("home/.gitconfig", gitConfig+"[safe]\n\tbareRepository = explicit\n", 0o644)
	w.script(false, "git --git-dir=../remote.git config alias.hello '!: >ran'")
	for _, script := range []string{`git log`, `git hello`, `git --git-dir=. log --format=%s`, `git config --list`, `git version`} {
		w.same("cd ../remote.git && " + script)
	}
	w.write("home/.gitconfig", gitConfig, 0o644)
	w.same(`cd ../remote.git && git log --format=%s main && git config alias.hello`)
}
