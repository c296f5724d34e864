//go:build lab

package lab

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

// TestLanes boots every lane. What each guest printed is in build/lab.
func TestLanes(t *testing.T) {
	built, shown := build(t), &supported{evidence: map[string][]record.Control{}}
	lanes := 0
	lane := func(kernel Kernel, name, cmdline string, sysctls map[string]string, cases []Case) func(*testing.T) {
		return func(t *testing.T) {
			tally := boot(t, kernel, built, cmdline, sysctls, cases)
			report(t, tally)
			shown.add(t, kernel.Series, name, tally)
			lanes++
		}
	}
	for _, series := range allSeries {
		t.Run(series, func(t *testing.T) {
			kernel := fetch(t, series)
			for _, s := range standings {
				t.Run(s.name, lane(kernel, s.name, "", nil, s.full(series)))
			}
			for _, l := range lacks {
				t.Run(l.name, lane(kernel, l.name, l.cmdline, l.sysctls, l.cases()))
			}
		})
	}
	if lanes == len(allSeries)*(len(standings)+len(lacks)) { // less by choice, with -run, or each with an error of its own
		shown.check(t, built.root)
	}
}

// allSeries are the kernels.
var allSeries = []string{"6.1", "6.12"}

// tree is what was built for the guests.
type tree struct{ root, build string }

func build(t *testing.T) tree {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	b := tree{root: root, build: t.TempDir()}
	b.run(t, "build", "-trimpath", "-o", filepath.Join(b.build, "init"), "./pkg/internal/lab/guest")
	b.run(t, "build", "-trimpath", "-o", b.build+"/", "./cmd/...")
	for _, dir := range append([]string{suite}, programs...) {
		b.run(t, "test", "-c", "-tags", "lab", "-trimpath", "-o", b.test(dir), "./"+dir)
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

func fetch(t *testing.T, series string) Kernel {
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

// swapOn makes the RAM disk the swap space, so that a memory limit that forgets swap shows.
var swapOn = [][]string{{"mkswap", "/dev/ram0"}, {"swapon", "/dev/ram0"}}

func boot(t *testing.T, kernel Kernel, built tree, cmdline string, sysctls map[string]string, cases []Case) Tally {
	archive, err := BaseArchive(filepath.Join(built.build, "init"))
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Prepare: swapOn, Sysctls: sysctls, Cases: cases}
	for _, m := range modules {
		text, err := kernel.Module(m.File)
		if err != nil {
			t.Fatal(err)
		}
		m.File = "/lab/" + filepath.Base(m.File)
		archive.File(m.File, 0o644, text)
		plan.Modules = append(plan.Modules, m)
	}
	built.into(t, archive)
	dir := filepath.Join(built.root, "build", "lab", filepath.FromSlash(strings.TrimPrefix(t.Name(), "TestLanes/")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m := Machine{Kernel: kernel, Append: cmdline, Archive: archive, Memory: 2048, Timeout: 12 * time.Minute, Plan: plan}
	tally, err := m.Run(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// into adds the programs, the test programs, their testdata and sources, which some tests read.
func (b tree) into(t *testing.T, a *Archive) {
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
	for _, dir := range append([]string{suite}, programs...) {
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

// report fails for every case that did not end as it had to, and prints the counts and the reasons of skips.
func report(t *testing.T, tally Tally) {
	for _, r := range tally.Results {
		passed, failed, skipped := strings.Count(r.Output, "--- PASS"), strings.Count(r.Output, "--- FAIL"), strings.Count(r.Output, "--- SKIP")
		t.Logf("%-16s status %d, %d passed, %d failed, %d skipped", r.Name, r.Status, passed, failed, skipped)
		switch {
		case r.Status != 0 || failed > 0:
			t.Errorf("%s:\n%s", r.Name, essence(r.Output))
		case strings.Contains(r.Output, "=== RUN") != (passed > 0) || strings.Contains(r.Output, "no tests to run"):
			t.Errorf("%s: no test ran", r.Name)
		case skipped > 0:
			t.Log(essence(r.Output))
		}
	}
	if tally.Failed != 0 {
		t.Errorf("the guest counted %d of %d cases failed", tally.Failed, tally.Cases)
	}
}

// passedLine is a line of no interest when something failed: progress, what passed, the kernel's messages.
var passedLine = regexp.MustCompile(`^(=== |--- PASS|\[ *\d+\.\d+\] )`)

// essence is the output of a test program without what passed.
func essence(output string) string {
	var kept strings.Builder
	for line := range strings.Lines(output) {
		if text := strings.TrimSpace(line); text != "" && !passedLine.MatchString(text) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
