//go:build lab

package lab

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/released"
)

// TestLanes boots every lane, as many at a time as go test runs tests in parallel. What each guest printed is in build/lab.
func TestLanes(t *testing.T) {
	built, all := build(t, allPrograms()), lanes()
	shown := &supported{all: all, tallies: map[string]Tally{}}
	t.Cleanup(func() { // after the last lane
		shown.repeat(t)
		if len(shown.tallies) == len(all) { // less by choice, with -run, or each with an error of its own
			shown.check(t, built.root)
		}
	})
	for _, l := range all {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			tally := boot(t, built, l)
			report(t, l, tally)
			shown.add(l, tally)
		})
	}
}

// tree is what was built for the guests.
type tree struct{ root, build string }

// stripped programs are half as large, and a guest holds them in memory twice while it boots.
const stripped = "-s -w"

// TestLater boots a kernel of Debian's unstable. It is not among the lanes, because its lists and packages change under who runs them.
func TestLater(t *testing.T) {
	l := laterLane()
	report(t, l, boot(t, build(t, l.programs), l))
}

func build(t *testing.T, programs []string) tree {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	b := tree{root: root, build: t.TempDir()}
	b.run(t, "build", "-trimpath", "-ldflags="+stripped, "-o", filepath.Join(b.build, "init"), "./pkg/internal/lab/guest")
	if err := released.Build(b.build, "GO_LDFLAGS="+stripped); err != nil {
		t.Fatal(err)
	}
	for _, dir := range programs {
		b.run(t, "test", "-c", "-tags", "lab", "-trimpath", "-ldflags="+stripped, "-o", b.test(dir), "./"+dir)
	}
	return b
}

func (b tree) test(dir string) string {
	return filepath.Join(b.build, strings.ReplaceAll(dir, "/", "-")+".test")
}

func (b tree) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// fetching keeps two lanes from downloading the same kernel.
var fetching sync.Mutex

func fetch(t *testing.T, series string) Kernel {
	fetching.Lock()
	defer fetching.Unlock()
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := Fetch(cache, series)
	if err != nil {
		t.Fatal(err)
	}
	return kernel
}

// modules are the kernel's modules that a guest loads: overlayfs for the caches, a RAM disk to swap to.
var modules = []Module{{"kernel/fs/overlayfs/overlay.ko", ""}, {"kernel/drivers/block/brd.ko", "rd_nr=1 rd_size=262144"}}

// prepare makes the RAM disk the swap space, so that a memory limit that forgets swap shows, and the root of a cgroup namespace the bound for moving and
// starting processes in cgroups, as systemd does (cgroup-v2.rst, nsdelegate).
var prepare = [][]string{{"mkswap", "/dev/ram0"}, {"swapon", "/dev/ram0"}, {"mount", "-o", "remount,nsdelegate", "/sys/fs/cgroup"}}

func boot(t *testing.T, built tree, l lane) Tally {
	archive, err := BaseArchive(filepath.Join(built.build, "init"), l.packages...)
	if err != nil {
		t.Fatal(err)
	}
	kernel, plan := fetch(t, l.series), Plan{Prepare: slices.Concat(prepare, l.prepare), Sysctls: l.sysctls, Cases: l.cases}
	for _, m := range modules {
		text, err := kernel.Module(m.File)
		if err != nil {
			t.Fatal(err)
		}
		m.File = "/lab/" + filepath.Base(m.File)
		archive.File(m.File, 0o644, text)
		plan.Modules = append(plan.Modules, m)
	}
	built.into(t, archive, l.programs)
	dir := filepath.Join(built.root, "build", "lab", l.String())
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if end, ok := t.Deadline(); ok { // so that the console is seen
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-time.Minute))
		defer cancel()
	}
	tally, err := Machine{Kernel: kernel, Append: l.cmdline, Archive: archive, Memory: 2048, Plan: plan}.Run(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// into adds the programs, and test programs with their testdata and sources, which some tests read.
func (b tree) into(t *testing.T, a *Archive, programs []string) {
	binaries, err := filepath.Glob(filepath.Join(b.build, "ethos-*"))
	if err != nil || len(binaries) == 0 {
		t.Fatalf("%d programs, %v", len(binaries), err)
	}
	for _, program := range binaries {
		b.add(t, a, "usr/local/bin/"+filepath.Base(program), program)
	}
	for _, dir := range []string{"testdata", "docs"} {
		b.add(t, a, "src/"+dir, filepath.Join(b.root, dir))
	}
	for _, dir := range programs {
		b.add(t, a, "src/"+dir+"/test", b.test(dir))
		if data := filepath.Join(b.root, dir, "testdata"); exists(data) {
			b.add(t, a, "src/"+dir+"/testdata", data)
		}
		sources, err := filepath.Glob(filepath.Join(b.root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sources {
			b.add(t, a, "src/"+dir+"/"+filepath.Base(name), name)
		}
	}
}

func (b tree) add(t *testing.T, a *Archive, name, host string) {
	t.Helper()
	if err := a.Tree(name, host); err != nil {
		t.Fatal(err)
	}
}

// report fails for every case that did not end as it had to or lacks a test that the host wants, and prints the counts and the reasons of skips.
func report(t *testing.T, l lane, tally Tally) {
	t.Logf("%d cases, %.0f s of processor time", tally.Cases, tally.Processor.Seconds())
	for i, r := range tally.Results {
		passed, failed, skipped := strings.Count(r.Output, "--- PASS"), strings.Count(r.Output, "--- FAIL"), strings.Count(r.Output, "--- SKIP")
		t.Logf("%-18s %6.1f s, status %d, %d passed, %d failed, %d skipped", r.Name, r.Took.Seconds(), r.Status, passed, failed, skipped)
		switch missing := l.cases[i].missing(r.Output); {
		case r.Status != 0 || failed > 0:
			t.Errorf("%s:\n%s", r.Name, r.Essence())
		case len(missing) > 0:
			t.Errorf("%s: did not pass: %s\n%s", r.Name, strings.Join(missing, " "), r.Essence())
		case skipped > 0:
			t.Log(r.Essence())
		}
	}
	if tally.Failed != 0 {
		t.Errorf("the guest counted %d of %d cases failed", tally.Failed, tally.Cases)
	}
}

// repeat logs once more what failed, at the end of a long log.
func (s *supported) repeat(t *testing.T) {
	for _, l := range s.all {
		for _, r := range s.tallies[l.String()].Results {
			if text := r.Failures(); r.Status != 0 || text != "" {
				t.Logf("%s: %s, status %d:\n%s", l, r.Name, r.Status, text)
			}
		}
	}
}
