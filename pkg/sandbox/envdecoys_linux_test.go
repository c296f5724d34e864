package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/shorttest"
)

// decoys are commands that leave environment files, so that the next run cannot hide the person's.
var decoys = map[string]string{
	"at the top":       `for i in range(3000): open('.env.%d' % i, 'w').close()`,
	"in directories":   `for i in range(1000): os.mkdir('d%d' % i); open('d%d/.env' % i, 'w').close()`,
	"in the sources":   `for i in range(1000): open('src/.env.%d' % i, 'w').close()`,
	"too deep":         `os.makedirs('src' + '/x' * 300); open('src' + '/x' * 300 + '/.env', 'w').close()`,
	"in git":           `os.makedirs('.git/objects' + '/x' * 300); open('.git/objects' + '/x' * 300 + '/.env', 'w').close()`,
	"each on its own":  `for i in range(400): d = 'src/%d' % i + '/x' * 14; os.makedirs(d); open(d + '/.env', 'w').close()`,
	"as links":         `for i in range(300): os.symlink('src/f', '.env.%d' % i)`,
	"in closed places": `for i in range(400): os.mkdir('c%d' % i); open('c%d/.env' % i, 'w').close(); os.chmod('c%d' % i, 0o555)`,
}

// TestEnvironmentDecoys: whatever environment files a command leaves, the next run hides the person's, takes few mounts
// for that and little time, and has the sources and the repository.
func TestEnvironmentDecoys(t *testing.T) {
	probetest.Need(t, "command:git", "command:python3")
	twice(t, func(t *testing.T) {
		for name, left := range shorttest.SampleMap(decoys, 3) {
			t.Run(name, func(t *testing.T) {
				spec := repository(t, "")
				t.Cleanup(func() { reopen(spec.Workspace) })
				for name, text := range map[string]string{".env": "KEY=1\n", "src/.env": "KEY=2\n", "src/f": "source\n"} {
					write(t, filepath.Join(spec.Workspace, name), text)
				}
				before := len(mustBuild(t, spec).Mounts)
				spec.Argv = []string{"python3", "-c", "import os\n" + strings.ReplaceAll(left, ": d = ", ":\n  d = ")}
				if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
					t.Fatalf("%v %s", r.err, r.Stderr.Text)
				}
				write(t, filepath.Join(spec.Workspace, "src/.env.late"), "KEY=3\n") // by the person
				start := spent(t)
				p := mustBuild(t, spec)
				if took := spent(t) - start; took > time.Second {
					t.Errorf("the plan took %v", took)
				}
				if more := len(p.Mounts) - before; more > quarantine.MostEnvironment+2 || p.EnvFilesShown > 0 {
					t.Errorf("%d mounts more, %d files shown", more, p.EnvFilesShown)
				}
				spec.Argv = []string{"sh", "-c", "cat .env src/.env src/.env.late; cat src/f; echo new > src/f; git status --short >/dev/null && git log -1 --format=%s"}
				if r := execute(t, spec); r.err != nil || r.Stdout.Text != "source\nfirst\n" || strings.Count(r.Stderr.Text, "Permission denied") != 3 {
					t.Errorf("%v %q %s", r.err, r.Stdout.Text, r.Stderr.Text)
				}
			})
		}
	})
}

// TestEnvironmentFilesOfACommand: the files that an ordinary command makes stay, and so do those that git has. What is put aside
// is told, and can be put back.
func TestEnvironmentFilesOfACommand(t *testing.T) {
	probetest.Need(t, "command:git", "command:python3")
	spec := repository(t, "for i in $(seq 20); do mkdir -p app$i; echo A=$i > app$i/.env; done")
	if r := execute(t, spec); r.err != nil || len(found(r)) > 0 {
		t.Fatalf("%v %+v", r.err, found(r))
	}
	spec.Argv[2] = "mkdir c; for i in $(seq 400); do echo $i > c/.env.$i; done; git add c"
	if r := execute(t, spec); r.err != nil || len(found(r)) > 0 {
		t.Fatalf("%v %+v", r.err, found(r))
	}
	spec.Argv[2] = "cat app1/.env; cat c/.env.400"
	if r := execute(t, spec); r.err != nil || r.Stdout.Text != "400\n" {
		t.Fatalf("%v %q %s", r.err, r.Stdout.Text, r.Stderr.Text)
	}
	spec.Argv[2] = "mkdir x; for i in $(seq 300); do echo $i > x/.env.$i; done"
	r := execute(t, spec)
	if list := found(r); r.err != nil || len(list) != 1 || !strings.Contains(list[0].What, "environment files") || !strings.Contains(list[0].Reason, "hide") {
		t.Fatalf("%v %+v", r.err, list)
	}
	kept, err := filepath.Glob(filepath.Join(spec.Workspace, plan.EthosDir, "quarantine/*/x/.env.*"))
	rest := names(t, filepath.Join(spec.Workspace, "x"))
	if err != nil || len(kept)+len(rest) != 300 || len(rest) < 200 {
		t.Fatalf("%d put aside, %d left, %v", len(kept), len(rest), err)
	}
	for _, name := range append(kept, filepath.Join(spec.Workspace, "app1/.env")) {
		if text, err := os.ReadFile(name); err != nil || len(text) < 2 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestMoreEnvironmentFilesThanMounts: of files that no command has left, the oldest are hidden, and the start says how many are not.
func TestMoreEnvironmentFilesThanMounts(t *testing.T) {
	spec := repository(t, "cat .env; cat src/f")
	write(t, filepath.Join(spec.Workspace, ".env"), "KEY=1\n")
	write(t, filepath.Join(spec.Workspace, "src/f"), "source\n")
	write(t, filepath.Join(spec.Workspace, ".git/x/.env"), "of git\n")
	time.Sleep(20 * time.Millisecond) // the clock that stamps files is coarse
	before := len(mustBuild(t, spec).Mounts)
	const most, files = 8 * quarantine.MostEnvironment, 8*quarantine.MostEnvironment + 500
	for i := range files {
		write(t, filepath.Join(spec.Workspace, "src", ".env."+strconv.Itoa(i)), "")
	}
	start := spent(t)
	p := mustBuild(t, spec)
	if took := spent(t) - start; took > time.Second {
		t.Errorf("the plan took %v", took)
	}
	if more := len(p.Mounts) - before; more > most || p.EnvFilesShown != files+1+1-most { // one mount holds src
		t.Errorf("%d mounts more, %d files shown", more, p.EnvFilesShown)
	}
	if e := plan.Covering(p.Paths, filepath.Join(spec.Workspace, ".git/x/.env")); plan.HidesEnvFile(e) {
		t.Error("a file in the git directory is hidden")
	}
	r := execute(t, spec)
	if list := found(r); r.err != nil || r.Stdout.Text != "source\n" || !strings.Contains(r.Stderr.Text, "Permission denied") || len(list) != 1 || !strings.HasPrefix(list[0].What, strconv.Itoa(p.EnvFilesShown)+" environment") {
		t.Errorf("%v %q %s %+v", r.err, r.Stdout.Text, r.Stderr.Text, list)
	}
	if line := line(r.Evidence, "mount"); line.State != control.Degraded {
		t.Errorf("%+v", line)
	}
}

// BenchmarkEnvironmentFiles times the plan of a work space with 30,000 environment files.
func BenchmarkEnvironmentFiles(b *testing.B) {
	probetest.Need(b, probetest.UserNS)
	spec := script(b, "true")
	for i := range 30_000 {
		if err := os.WriteFile(filepath.Join(spec.Workspace, ".env."+strconv.Itoa(i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.ReportMetric(float64(len(mustBuild(b, spec).Mounts)), "mounts")
	}
}

// found are the findings of a run's quarantine.
func found(r result) []record.Denial {
	return slices.DeleteFunc(slices.Clone(r.Evidence.Denials), func(d record.Denial) bool { return d.Layer != ControlGit })
}

// spent is the processor time that this process has used.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
