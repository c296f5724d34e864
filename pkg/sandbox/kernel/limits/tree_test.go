package limits

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// process is one process of a proc file system made of files.
type process struct {
	pid      int
	anon     int // kB
	shmem    int
	pss      int // kB; below 0 for a smaps_rollup that cannot be read
	threads  map[int]string
	noMemory bool // its main thread has ended
}

func procTree(t *testing.T, processes ...process) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range processes {
		dir := filepath.Join(root, fmt.Sprint(p.pid))
		rss := fmt.Sprintf("VmRSS:\t%d kB\nRssAnon:\t%8d kB\nRssFile:\t  999 kB\nRssShmem:\t%8d kB\n", p.anon+p.shmem+999, p.anon, p.shmem)
		own := rss
		if p.noMemory {
			own = ""
		}
		write(t, filepath.Join(dir, "status"), fmt.Sprintf("Name:\tx: 7 kB\n%sThreads:\t%d\n", own, len(p.threads)))
		if p.pss >= 0 {
			write(t, filepath.Join(dir, "smaps_rollup"), fmt.Sprintf("0-1 ---p 0 0:0 0 [rollup]\nRss: 1 kB\nPss:  99999 kB\nPss_Anon:  %d kB\nPss_Shmem:  0 kB\n", p.pss))
		}
		for tid, children := range p.threads {
			task := filepath.Join(dir, "task", fmt.Sprint(tid))
			write(t, filepath.Join(task, "children"), children)
			if tid == p.pid {
				write(t, filepath.Join(task, "status"), own)
			} else {
				write(t, filepath.Join(task, "status"), rss)
			}
		}
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSample(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes []process
		exact     bool
		want      Sample
	}{
		{"one process", []process{{pid: 10, anon: 4, shmem: 1, threads: map[int]string{10: ""}}}, false, Sample{Processes: 1, Threads: 1, Bytes: 5 << 10}},
		{"children of every thread", []process{
			{pid: 10, anon: 1, threads: map[int]string{10: "11 ", 12: "13 14 "}},
			{pid: 11, anon: 2, threads: map[int]string{11: ""}},
			{pid: 13, anon: 4, threads: map[int]string{13: "15 "}},
			{pid: 14, anon: 8, threads: map[int]string{14: ""}},
			{pid: 15, anon: 16, threads: map[int]string{15: ""}},
			{pid: 99, anon: 1 << 20, threads: map[int]string{99: ""}}, // another tree
		}, false, Sample{Processes: 5, Threads: 6, Bytes: 31 << 10}},
		{"a child that ended meanwhile", []process{{pid: 10, anon: 1, threads: map[int]string{10: "11 "}}}, false, Sample{Processes: 1, Threads: 1, Bytes: 1 << 10}},
		{"an init that ended", nil, false, Sample{}},
		{"exact", []process{
			{pid: 10, anon: 100, pss: 60, threads: map[int]string{10: "11 "}},
			{pid: 11, anon: 100, pss: 50, threads: map[int]string{11: ""}},
		}, true, Sample{Processes: 2, Threads: 2, Bytes: 110 << 10, Exact: true}},
		{"exact where it can be", []process{
			{pid: 10, anon: 100, pss: 60, threads: map[int]string{10: "11 "}},
			{pid: 11, anon: 100, pss: -1, threads: map[int]string{11: ""}},
		}, true, Sample{Processes: 2, Threads: 2, Bytes: 160 << 10}},
		{"the main thread has ended and the others hold the memory", []process{
			{pid: 10, anon: 700, threads: map[int]string{10: "", 11: ""}, noMemory: true},
		}, false, Sample{Processes: 1, Threads: 2, Bytes: 700 << 10}},
	} {
		got, err := Tree{Proc: procTree(t, c.processes...), Init: 10}.Sample(c.exact)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestSampleOfSome : of a tree, only those count that are asked for, wherever they are.
func TestSampleOfSome(t *testing.T) {
	root := procTree(t,
		process{pid: 10, anon: 1, threads: map[int]string{10: "11 14 "}},
		process{pid: 11, anon: 2, threads: map[int]string{11: "12 "}},
		process{pid: 12, anon: 4, threads: map[int]string{12: "", 13: ""}},
		process{pid: 14, anon: 8, threads: map[int]string{14: ""}},
	)
	got, err := Tree{Proc: root, Init: 10, Of: func(pid int) bool { return pid == 12 || pid == 14 }}.Sample(false)
	if want := (Sample{Processes: 2, Threads: 3, Bytes: 12 << 10}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestWatchOfThreads : too many are reported, and no limit is no limit.
func TestWatchOfThreads(t *testing.T) {
	root := procTree(t, process{pid: 10, anon: 1 << 10, threads: map[int]string{10: "", 11: "", 12: ""}})
	for most, want := range map[int64]bool{2: true, 3: false, 0: false} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		over := false
		w := Watch{Tree: Tree{Proc: root, Init: 10}, Threads: most, Interval: time.Millisecond, Over: func(Sample) { over = true }}
		if peak, err := w.Run(ctx); err != nil || over != want || peak.Threads != 3 {
			t.Errorf("%d: over %v, %+v, %v", most, over, peak, err)
		}
		cancel()
	}
}

// TestWatchOfNothing : one sample that finds nothing does not end a watch that asks for more.
func TestWatchOfNothing(t *testing.T) {
	root, looks := procTree(t, process{pid: 10, threads: map[int]string{10: ""}}), 0
	w := Watch{Empty: 5, Interval: time.Millisecond, Tree: Tree{Proc: root, Init: 10, Of: func(int) bool { looks++; return looks == 4 }}}
	if _, err := w.Run(t.Context()); err != nil || looks != 9 {
		t.Errorf("%d samples, %v; one of five finds something, and then five find nothing", looks, err)
	}
}

// TestWatchAsleep : while nothing can change no sample is taken, and then the watch goes on.
func TestWatchAsleep(t *testing.T) {
	root := procTree(t, process{pid: 10, anon: 1 << 10, threads: map[int]string{10: "", 11: "", 12: ""}})
	asked, looks, over := 0, 0, false
	w := Watch{
		Tree: Tree{Proc: root, Init: 10, Of: func(int) bool { looks++; return true }}, Threads: 2, Interval: time.Millisecond,
		Asleep: func() bool { asked++; return asked < 5 },
		Over: func(Sample) {
			if over = true; looks > 1 {
				t.Errorf("%d samples", looks)
			}
		},
	}
	if _, err := w.Run(t.Context()); err != nil || !over || asked != 5 {
		t.Errorf("over %v, asked %d times, %v", over, asked, err)
	}
}

// TestSampleIsBounded : a process that claims to be its own child would keep an unbounded walk going for ever.
func TestSampleIsBounded(t *testing.T) {
	root := procTree(t, process{pid: 10, anon: 1, threads: map[int]string{10: "10 10 "}})
	got, err := Tree{Proc: root, Init: 10}.Sample(false)
	if err != nil || !got.Full || got.Processes > maxReads {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestSampleWithoutChildrenFiles : a kernel that cannot tell the tree is an error, not a tree of one.
func TestSampleWithoutChildrenFiles(t *testing.T) {
	root := procTree(t, process{pid: 10, anon: 1, threads: map[int]string{10: ""}})
	if err := os.Remove(filepath.Join(root, "10/task/10/children")); err != nil {
		t.Fatal(err)
	}
	if _, err := (Tree{Proc: root, Init: 10}).Sample(false); err == nil || !strings.Contains(err.Error(), "CONFIG_PROC_CHILDREN") {
		t.Errorf("error %v", err)
	}
}

func TestSampleOfGarbageIsAnError(t *testing.T) {
	root := procTree(t, process{pid: 10, anon: 1, threads: map[int]string{10: "eleven "}})
	if _, err := (Tree{Proc: root, Init: 10}).Sample(false); err == nil || !strings.Contains(err.Error(), "eleven") {
		t.Errorf("error %v", err)
	}
}

func TestWatch(t *testing.T) {
	shared := []process{ // 200 kB when counted twice, 110 when shared memory is counted once
		{pid: 10, anon: 100, pss: 60, threads: map[int]string{10: "11 "}},
		{pid: 11, anon: 100, pss: 50, threads: map[int]string{11: ""}},
	}
	for _, c := range []struct {
		limit int64
		look  time.Duration // at most
		want  *Sample
	}{
		{100 << 10, time.Minute, &Sample{Processes: 2, Threads: 2, Bytes: 110 << 10, Exact: true}},
		{150 << 10, 50 * time.Millisecond, nil}, // over only by the cheap count
	} {
		ctx, cancel := context.WithTimeout(t.Context(), c.look)
		var over *Sample
		w := Watch{Tree: Tree{Proc: procTree(t, shared...), Init: 10}, Limit: c.limit, Interval: time.Millisecond, Over: func(s Sample) { over = &s }}
		if _, err := w.Run(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if diff := cmp.Diff(c.want, over); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", c.limit, diff)
		}
	}
}

func TestWatchEndsWithTheTree(t *testing.T) {
	w := Watch{Tree: Tree{Proc: t.TempDir(), Init: 10}, Limit: 1, Over: func(Sample) { t.Error("nothing is over") }}
	if peak, err := w.Run(t.Context()); err != nil || peak.Processes != 0 {
		t.Errorf("%+v, %v", peak, err)
	}
}
