package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// everyday are commands that list, read, pack, copy, search or clear a work
// tree. Each prints the same, ends the same and leaves the same inside as
// outside.
var everyday = []struct{ need, script string }{
	{"", `cat *.json`},
	{"", `wc -c *`},
	{"", `ls -la --time-style=+ | grep -v '^total\| \.\.$\| \.git$'`},
	{"", `ls -A`},
	{"", `find . -path ./.git -prune -o -type f -print | sort`},
	{"", `find . -path ./.git -prune -o -type d -print | sort`},
	{"", `git status --porcelain --ignored`},
	{"", `git clean -ndx; git clean -fdx`},
	{"", `git stash -u -q; git stash show --name-only --include-untracked | sort; ls -A`},
	{"", `git add -A; git status --porcelain; git ls-files -o`},
	{"", `rm -rf ./*; ls -A`},
	{"", `for e in .[!.]*; do [ "$e" = .git ] || rm -rf "$e" || echo failed; done; ls -A`},
	{"", `tar c --exclude=./.git . | tar t | sort`},
	{"", `mkdir copy; tar c --exclude=./.git --exclude=./copy . | tar x -C copy; ls -AR copy`},
	{"", `cp -a . /tmp/copy; rm -rf /tmp/copy/.git; cd /tmp; find copy | sort; rm -rf copy`},
	{"", `grep -r --exclude-dir=.git value . | sort`},
	{"", `du -a --apparent-size --exclude=.git . | cut -f 2 | sort`},
	{"", `for f in *; do echo "$f"; done; for f in .*; do echo "$f"; done`},
	{"command:bash", `bash -c 'shopt -s dotglob globstar; for f in **; do case $f in .git*) ;; *) echo "$f";; esac; done'`},
	{"command:jq", `jq -c . *.json`},
	{"command:rsync", `rsync -a --exclude .git . /tmp/copy; cd /tmp; find copy | sort; rm -rf copy`},
	{"command:zip", `zip -qr /tmp/z.zip . -x '.git/*'; unzip -l /tmp/z.zip | awk '{print $4}'; rm /tmp/z.zip`},
	{"command:npm", `npm pack --dry-run --json 2>/dev/null | grep '"path"'`},
	{"command:go", `go list ./...`},
	{"command:python3", `python3 -m compileall -q .; find . -name '*.pyc' | sed 's/cpython-[0-9]*//' | sort`},
}

// TestEverydayCommands compares inside with outside in a fresh work space
// without any settings. The directory of ethos itself is there in both.
func TestEverydayCommands(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for i, c := range shorttest.Sample(everyday, 6) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if c.need != "" {
				probetest.Need(t, c.need)
			}
			outside, inside := fresh(t, c.script), fresh(t, c.script)
			cmd := exec.Command("sh", "-c", c.script)
			cmd.Dir, cmd.Env = outside.Dir, append(outside.Environ, "TMPDIR=/tmp")
			var said bytes.Buffer
			cmd.Stdout = &said
			cmd.WaitDelay = time.Minute
			err := cmd.Run()
			if _, failed := err.(*exec.ExitError); err != nil && !failed {
				t.Fatal(err)
			}
			out, got, err := RunCaptured(context.Background(), mustBuild(t, inside), nil)
			if err != nil {
				t.Fatal(err)
			}
			if said.String() != got.Stdout.Text || cmd.ProcessState.ExitCode() != out.ExitCode || len(out.Evidence.Denials) > 0 {
				t.Errorf("%s\noutside %d:\n%sinside %d:\n%s%s%+v", c.script, cmd.ProcessState.ExitCode(), said.String(), out.ExitCode, got.Stdout.Text, got.Stderr.Text, out.Evidence.Denials)
			}
			if a, b := contents(t, outside.Dir), contents(t, inside.Dir); a != b {
				t.Errorf("%s\noutside there is\n%sinside\n%s", c.script, a, b)
			}
		})
	}
}

// fresh is a work space with a git repository, some files of several languages
// and no settings.
func fresh(t *testing.T, text string) Spec {
	t.Helper()
	spec := repository(t, text)
	for name, text := range map[string]string{
		"package.json": `{"name":"p","version":"1.0.0"}`, "data.json": `{"key":"value"}`, "go.mod": "module p\n\ngo 1.21\n", "p.go": "package p\n",
		"sub/q.go": "package sub\n", "m.py": "x = 'value'\n", "README": "value\n", ".hidden": "value\n", ".gitignore": "*.log\n", "a.log": "log\n",
	} {
		write(t, filepath.Join(spec.Workspace, name), text)
	}
	spec.Environ = append(spec.Environ, "PATH="+os.Getenv("PATH"))
	write(t, filepath.Join(filepath.Dir(spec.Workspace), "home/.gitconfig"), "[user]\n\tname = a\n\temail = a@b\n")
	return spec
}

// contents lists what is there but for the git directory: path, kind, mode and
// size.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" || d.Name() == ethosDir {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if d.IsDir() || strings.HasSuffix(path, ".pyc") {
			size = 0
		}
		fmt.Fprintf(&b, "%s %v %d\n", strings.TrimPrefix(path, dir), info.Mode(), size)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
