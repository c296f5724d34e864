package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ethos/pkg/shorttest"
)

// built is the directory of the programs under test, made once: ethos-git and its sibling.
var built = sync.OnceValues(build)

var scratch string

func TestMain(m *testing.M) {
	m.Run()
	os.RemoveAll(scratch)
}

func build() (string, error) {
	dir, err := os.MkdirTemp("", "ethos-git-")
	if err != nil {
		return "", err
	}
	scratch = dir
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "ethos/cmd/ethos-git", "ethos/cmd/ethos-decide", "ethos/cmd/ethos-sandbox")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	if err := os.Mkdir(filepath.Join(dir, "asgit"), 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"git", "git-upload-pack", "git-receive-pack"} {
		if err := os.Symlink("../ethos-git", filepath.Join(dir, "asgit", name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func programs(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const gitConfig = `[user]
	name = A
	email = a@example.org
[init]
	defaultBranch = main
[core]
	editor = true
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
`

func TestScripts(t *testing.T) {
	scripts(t, programs(t), testscript.Params{Files: shorttest.Scripts(t, "testdata/script", 3)})
}

// TestScriptsWithin runs the scripts with ethos-git as it is released, which decides by itself. One of them is about the build that does not.
func TestScriptsWithin(t *testing.T) {
	shorttest.Long(t)
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "nocel", "-o", dir+"/", "ethos/cmd/ethos-git")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Symlink(filepath.Join(programs(t), "ethos-decide"), filepath.Join(dir, "ethos-decide")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return filepath.Base(name) == "closed.txtar" })
	scripts(t, dir, testscript.Params{Files: shorttest.Sample(files, 4)})
}

// scripts runs scripts with the programs of a directory.
func scripts(t *testing.T, dir string, p testscript.Params) {
	p.Setup = func(e *testscript.Env) error {
		home := filepath.Join(e.WorkDir, "home")
		e.Setenv("HOME", home)
		e.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		e.Setenv("BIN", dir)
		e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		if err := os.Mkdir(home, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o644)
	}
	testscript.Run(t, p)
}
