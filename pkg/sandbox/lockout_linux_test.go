package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// lockouts are what an earlier command may have left, and that no later run may
// end for. The attack must fail in the next run, and the twin succeed.
var lockouts = map[string]struct {
	left, attack, twin string
	noted              string // the path of a note, below the work space
	copied             bool   // the attack may get through to a copy of git's configuration, and must not get out of it
}{
	"hooks lead to the work space": {
		left: `git init -q n; rm -rf n/.git/hooks; ln -s ../.. n/.git/hooks`, attack: `echo evil > n/.git/config`, twin: `echo x > f; echo x > n/f`, noted: "n/.git"},
	"hooks lead in a circle": {
		left: `git init -q n; rm -rf n/.git/hooks; ln -s hooks n/.git/hooks`, attack: `echo evil > n/.git/config`, twin: `echo x > n/f`, noted: "n/.git"},
	"info leads in a circle": {
		left: `git init -q n; rm -rf n/.git/info; ln -s info n/.git/info`, attack: `echo evil > n/.git/config`, twin: `echo x > n/f`, noted: "n/.git"},
	"a closed directory": {
		left:   `mkdir a; git init -q a/n; mkdir a/.claude; echo '{}' > a/.claude/settings.json; chmod 0 a`,
		attack: `chmod 755 a; { echo evil > a/n/.git/hooks/pre-commit; } || { echo evil > a/n/.git/config; } || echo evil > a/.claude/settings.json`, twin: `mkdir b; echo x > b/f`, copied: true},
	"a closed git directory": {
		left: `git init -q n; chmod 0 n/.git`, attack: `chmod 755 n/.git; echo evil > n/.git/config`, twin: `echo x > n/f`, copied: true},
	"a git directory without search permission": {
		left: `git init -q n; chmod 444 n/.git`, attack: `chmod 755 n/.git; echo evil > n/.git/config`, twin: `echo x > n/f`, copied: true},
	"many closed directories": {
		left: `for i in $(seq 300); do mkdir -p d/$i; chmod 0 d/$i; done`, attack: `false`, twin: `echo x > d/f`},
	"submodules": {
		left: `git init -q .; python3 -c "import os
for i in range(600):
  d = '.git/modules/s%d' % i
  for x in (d + '/objects', d + '/refs', 's%d' % i): os.makedirs(x)
  for f, text in ((d + '/HEAD', 'ref: refs/heads/m'), (d + '/config', '[core]'), ('s%d/.git' % i, 'gitdir: ../' + d)): open(f, 'w').write(text + chr(10))"`,
		attack: `echo evil > .git/config`, twin: `echo x > s599/f; echo x > f; git add f`, noted: ".", copied: true},
	"settings": {
		left: `python3 -c "import os
for i in range(2000): os.mkdir('d%d' % i); open('d%d/.mcp.json' % i, 'w').write('{}')"`, attack: `echo evil > d0/.mcp.json`, twin: `echo x > d1999/f`, noted: "."},
	"sockets": {
		left: `python3 -c "import socket,os
for i in range(500): s=socket.socket(socket.AF_UNIX); s.bind('s%d' % i); s.close()"`, attack: `false`, twin: `echo x > f`},
	"environment files": {
		left: `mkdir -p src .git/objects; echo s > src/.env; echo s > .env; sleep 0.02; python3 -c "import os
for i in range(4000): open('.env.%d' % i, 'w').close()
for i in range(3000): os.mkdir('d%d' % i); open('d%d/.env' % i, 'w').close()
for top in ('src', '.git/objects'):
  deep = top + '/x' * 40
  os.makedirs(deep); open(deep + '/.env', 'w').close()"`,
		attack: `cat .env || cat src/.env`, twin: `echo x > src/f; cat src/f > /dev/null; : > d2999/f; ls .git/objects > /dev/null`, noted: "."},
	"levels": {
		left: `p=d; for i in $(seq 9); do p=$p/$p; [ ${#p} -lt 3000 ] || break; done; mkdir -p $p; git init -q $p/n 2>/dev/null || mkdir -p $p/.git`, attack: `false`, twin: `echo x > d/f`, noted: "."},
	"a pointer to a directory that is none of git's": {
		left: `mkdir sub config hooks; echo 'gitdir: ..' > sub/.git`, attack: `echo 'gitdir: ../x' > sub/.git`, twin: `echo x > config/f; echo x > hooks/f`},
	"a pointer of 100 kB": {
		left: `mkdir sub config; { echo 'gitdir: ../config'; head -c 100000 /dev/zero | tr '\0' '\n'; } > sub/.git`, attack: `echo 'gitdir: ../x' > sub/.git`, twin: `echo x > config/f`},
	"a pointer of 2 MB": {
		left: `mkdir sub; { echo 'gitdir: ../config'; head -c 2000000 /dev/zero; } > sub/.git`, attack: `echo 'gitdir: ../x' > sub/.git`, twin: `echo x > sub/f`},
	"a split repository of 20 kB": {
		left:   `git init -q --bare c; mkdir s; cp c/HEAD s/; { for i in $(seq 10000); do printf ./; done; echo ../c; } > s/commondir`,
		attack: `{ echo evil > c/config; } || echo ../evil > s/commondir`, twin: `echo x > s/f`, copied: true},
	"a common directory that is no file": {
		left: `git init -q n; mkdir n/.git/commondir`, attack: `echo evil > n/.git/config`, twin: `echo x > n/f`},
	"a pointer that is a link to the work space": {
		left: `mkdir n; ln -s .. n/.git`, attack: `rm n/.git`, twin: `echo x > f; echo x > n/f`},
	"a pointer that is a link in a circle": {
		left: `mkdir n; ln -s .git n/.git`, attack: `rm n/.git`, twin: `echo x > n/f`},
	"settings that lead to the work space": {
		left: `mkdir n; ln -s .. n/.claude; ln -s .mcp.json n/.mcp.json`, attack: `false`, twin: `echo x > f`},
	"a pipe as configuration": {
		left: `git init -q n; rm n/.git/config; mkfifo n/.git/config n/.git/commondir; mkfifo n/repo_config.yaml`, attack: `rm n/.git/config`, twin: `echo x > n/f`},
}

func TestNeverLockedOut(t *testing.T) {
	probetest.Need(t, "command:git", "command:python3")
	twice(t, func(t *testing.T) {
		for name, test := range shorttest.SampleMap(lockouts, 5) {
			t.Run(name, func(t *testing.T) {
				spec := script(t, "( "+test.attack+" ) 2>/dev/null && echo attack; ( set -e; "+test.twin+" ) && echo twin")
				t.Cleanup(func() { reopen(spec.Workspace) })
				mustRun(t, shell(spec, test.left))
				for range 2 { // the run itself leaves nothing either that the next one would end for
					plan, err := Build(spec, HostFiles{}, os.Geteuid())
					if err != nil {
						t.Fatal(err)
					}
					if noted := filepath.Join(spec.Workspace, test.noted); test.noted != "" && !slices.ContainsFunc(plan.Notes, func(n Note) bool { return n.About == noted }) {
						t.Errorf("no note on %s: %v", noted, plan.Notes)
					}
					r := execute(t, spec)
					if r.err != nil || r.Stdout.Text != "twin\n" && (!test.copied || r.Stdout.Text != "attack\ntwin\n") {
						t.Errorf("%v %q %s", r.err, r.Stdout.Text, r.Stderr.Text)
					}
					if out, _ := shell(spec, "grep -rls evil .").Output(); len(out) > 0 {
						t.Errorf("what the attack wrote is outside: %s", out)
					}
				}
				if test.attack != "false" { // it is one: without the boundary it gets through
					mustRun(t, shell(spec, test.attack))
				}
			})
		}
	})
}

// shell runs a script in the work space, unconfined.
func shell(spec Spec, text string) *exec.Cmd {
	cmd := exec.Command("sh", "-ec", text)
	cmd.Dir, cmd.Env = spec.Workspace, spec.Environ
	return cmd
}

// reopen lets a test's directory be removed.
func reopen(dir string) {
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && !strings.Contains(path, "/proc/") {
			os.Chmod(path, 0o755)
		}
		return nil
	})
}
