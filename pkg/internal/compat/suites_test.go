//go:build compat

package compat

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// scripts are of git's own tests, some of each kind of command.
var scripts = strings.Fields("t0001-init t0002-gitfile t1300-config t2020-checkout-detach t3200-branch t3600-rm t3903-stash t7001-mv t7102-reset t7300-clean t7600-merge t7810-grep")

// TestGit runs git's own tests with git, and with ethos-git in its place: no difference is a bug. ETHOS_GIT_TESTS is the directory t of git's source, of the installed version, in which
// `make t/helper/test-tool GIT-BUILD-OPTIONS && make -C templates` has been run.
func TestGit(t *testing.T) {
	dir := os.Getenv("ETHOS_GIT_TESTS")
	probetest.Need(t, "command:git", "file:"+filepath.Join(orNowhere(dir), "test-lib.sh"))
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "ethos/cmd/ethos-git", "ethos/cmd/ethos-decide")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asGit := t.TempDir()
	for _, name := range []string{"git", "git-upload-pack", "git-receive-pack"} {
		if err := os.Symlink(filepath.Join(bin, "ethos-git"), filepath.Join(asGit, name)); err != nil {
			t.Fatal(err)
		}
	}
	installed, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			outside := suite(t, dir, script, filepath.Dir(installed))
			if len(outside) == 0 {
				t.Fatal("it has no tests")
			}
			under := suite(t, dir, script, asGit)
			if len(under) != len(outside) {
				t.Errorf("%d tests outside, %d under ethos", len(outside), len(under))
			}
			for _, d := range Compare(outside, under) {
				if d.Kind == Bug {
					t.Errorf("%d %s\n%s", d.Number, d.Name, d.Output)
				} else {
					t.Logf("%d %s: %s %s", d.Number, d.Name, d.Kind, d.Policy)
				}
			}
		})
	}
}

func orNowhere(dir string) string {
	if dir == "" {
		return "/nonexistent/ETHOS_GIT_TESTS"
	}
	return dir
}

// suite runs one script with the git of a directory.
func suite(t *testing.T, dir, script, bin string) []Case {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "./"+script+".sh", "--verbose", "--root="+t.TempDir())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TEST_INSTALLED="+bin, "ETHOS_STORE="+t.TempDir())
	out, _ := cmd.CombinedOutput() // the tests tell
	cases, err := ParseGit(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return cases
}
