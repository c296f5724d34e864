package cgroup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func delegation(t *testing.T) (*kernel, *Delegation) {
	t.Helper()
	k := newKernel(user, "/d/me", "/d:1000:cpu,io,memory,pids", "/d/me:1000")
	d, err := Discover(t.Context(), k.caller(), need)
	if err != nil {
		t.Fatal(err)
	}
	return k, d
}

func TestUsage(t *testing.T) {
	k, d := delegation(t)
	leaf, err := d.NewLeaf(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{
		MemoryPeak: 4096, CPU: 3500 * time.Microsecond, UserCPU: 2 * time.Millisecond, SystemCPU: 1500 * time.Microsecond, Throttled: 7 * time.Microsecond,
		PidsPeak: 5, PidsDenied: 3, OOMKills: 1, ReadBytes: 11, WriteBytes: 22,
	}
	got, err := leaf.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	k.old = []string{"memory.peak", "pids.peak", "io.stat"}
	want.MemoryPeak, want.PidsPeak, want.ReadBytes, want.WriteBytes, want.Unknown = 0, 0, 0, 0, []string{"memory.peak", "pids.peak", "io.stat"}
	if got, err = leaf.Usage(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an old kernel (-want +got):\n%s", diff)
	}
}

func TestUsageOfGarbageIsAnError(t *testing.T) {
	for _, text := range []string{"usage_usec", "usage_usec x", "1"} {
		if _, err := parseFlat(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if _, _, err := parseIO("8:0 rbytes=x"); err == nil {
		t.Error("rbytes=x was read")
	}
	read, written, err := parseIO("8:0 rbytes=1 wbytes=2 rios=9\n8:16 rbytes=10 wbytes=20\n")
	if err != nil || read != 11 || written != 22 {
		t.Errorf("%d, %d, %v", read, written, err)
	}
}

// TestLeafFaults : whatever goes wrong while a leaf is made, there is a leaf with every limit or there is none.
func TestLeafFaults(t *testing.T) {
	for n := range 100 {
		k, d := delegation(t)
		count, injected := 0, ""
		k.fault = func(op, name string) error {
			count++
			if count == n+1 {
				injected = op + " " + name
				return syscall.EIO
			}
			return nil
		}
		leaf, err := d.NewLeaf(Limits{MemoryBytes: 1 << 20, CPUPercent: 50, Pids: 5})
		k.fault = nil
		if injected == "" {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if leaf != nil || err == nil {
			t.Fatalf("%s failed, and a leaf was made", injected)
		}
		if !strings.Contains(err.Error(), "input/output error") {
			t.Errorf("%s failed: error %q does not say so", injected, err)
		}
		for id := range k.groups {
			if strings.Contains(id, "/run-") {
				t.Errorf("%s failed: %s is left behind", injected, id)
			}
		}
		if len(k.locks) > 0 {
			t.Errorf("%s failed: still locked: %v", injected, k.locks)
		}
	}
	t.Error("100 operations were not enough")
}

// TestLeafSweptWhileWritten : a leaf that another process removes before it is locked is replaced by one with another name.
// A file that was opened before the removal answers ENODEV, one that is opened later ENOENT.
func TestLeafSweptWhileWritten(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOENT, syscall.ENODEV} {
		k, d := delegation(t)
		swept := ""
		k.fault = func(op, name string) error {
			if op != "write" || swept != "" && !strings.HasPrefix(name, swept) {
				return nil
			}
			if swept == "" {
				swept, _, _ = strings.Cut(name, "/memory.")
				delete(k.groups, strings.TrimPrefix(swept, k.point))
			}
			return errno
		}
		leaf, err := d.NewLeaf(Limits{MemoryBytes: 1 << 20})
		if err != nil || leaf == nil || leaf.Path == swept {
			t.Errorf("%v: swept %s, got %+v, %v", errno, swept, leaf, err)
		}
	}
}

// TestLimitThatDoesNotStick : the kernel's answer is what counts, not that the write went through.
func TestLimitThatDoesNotStick(t *testing.T) {
	k, d := delegation(t)
	ignoring := ignoreWrites{k, "pids.max"}
	d.files = ignoring
	if leaf, err := d.NewLeaf(Limits{Pids: 5}); leaf != nil || err == nil || !strings.Contains(err.Error(), `holds "max" after "5" was written`) {
		t.Errorf("%v, %v", leaf, err)
	}
}

// TestLimitThatThisKernelLacks : the leaf without it is removed, and is not taken for one that was swept.
func TestLimitThatThisKernelLacks(t *testing.T) {
	k, d := delegation(t)
	k.old = []string{"pids.max"}
	if leaf, err := d.NewLeaf(Limits{Pids: 5}); leaf != nil || err == nil || !strings.Contains(err.Error(), "pids.max: no such file") {
		t.Errorf("%v, %v", leaf, err)
	}
	for id := range k.groups {
		if strings.Contains(id, "/run-") {
			t.Errorf("%s is left behind", id)
		}
	}
}

// ignoreWrites is a kernel that takes a write and forgets it.
type ignoreWrites struct {
	*kernel
	file string
}

func (i ignoreWrites) WriteFile(name, text string) error {
	if strings.HasSuffix(name, "/"+i.file) {
		return nil
	}
	return i.kernel.WriteFile(name, text)
}

func TestSwap(t *testing.T) {
	for _, c := range []struct {
		swaps string
		ok    bool
	}{
		{"Filename\tType\tSize\tUsed\tPriority\n", true},
		{"Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1 0 -2\n", false},
	} {
		k, d := delegation(t)
		k.old, k.proc["/proc/swaps"] = []string{"memory.swap.max"}, c.swaps
		leaf, err := d.NewLeaf(Limits{MemoryBytes: 1 << 20})
		if (err == nil) != c.ok || (leaf != nil) != c.ok {
			t.Errorf("swaps %q: %v, %v", c.swaps, leaf, err)
		}
	}
}

func TestKillAndRemove(t *testing.T) {
	k, d := delegation(t)
	leaf, err := d.NewLeaf(Limits{Pids: 5})
	if err != nil {
		t.Fatal(err)
	}
	k.groups[strings.TrimPrefix(leaf.Path, k.point)].procs = []string{"4242"}
	if populated, err := leaf.Populated(); err != nil || !populated {
		t.Errorf("populated: %v, %v", populated, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := leaf.rmdir(short); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a populated leaf was removed: %v", err)
	}
	if err := leaf.Kill(); err != nil {
		t.Error(err)
	}
	if err := leaf.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := leaf.Remove(t.Context()); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

// TestMembers : the processes of every cgroup below count, and one that is removed meanwhile does not hide the others.
func TestMembers(t *testing.T) {
	k := newKernel(0, "", "/a", "/a/b", "/a/b/c", "/a/gone", "/a/z", "/other")
	for id, pids := range map[string][]string{"/a": {"1", "2"}, "/a/b": {"3"}, "/a/b/c": {"4"}, "/a/gone": {"5"}, "/a/z": {"6"}, "/other": {"7"}} {
		k.groups[id].procs = pids
	}
	k.fault = func(_, name string) error {
		if strings.Contains(name, "/gone") {
			return syscall.ENODEV
		}
		return nil
	}
	got, err := members(k, k.point+"/a")
	if want := "1 2 3 4 6"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	k.fault = func(op, name string) error {
		if strings.HasSuffix(name, "/c/cgroup.procs") {
			return syscall.EIO
		}
		return nil
	}
	if got, err := members(k, k.point+"/a"); err == nil {
		t.Errorf("%q, although one could not be read", got)
	}
}

// TestRemoveTellsWhatIsLeft : a leaf that cannot be removed is an error, and its lock is released for the next sweep.
func TestRemoveTellsWhatIsLeft(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EBUSY, syscall.EACCES} {
		k, d := delegation(t)
		leaf, err := d.NewLeaf(Limits{})
		if err != nil {
			t.Fatal(err)
		}
		k.fault = func(op, _ string) error {
			if op == "rmdir" {
				return errno
			}
			return nil
		}
		short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if err := leaf.Remove(short); !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
		if len(k.locks) > 0 {
			t.Errorf("%v: still locked: %v", errno, k.locks)
		}
	}
}

// TestControllerThatIsNotGiven : the kernel's answer is what counts for controllers, too.
func TestControllerThatIsNotGiven(t *testing.T) {
	k := newKernel(user, "/d/me", "/d:1000:cpu,io,memory,pids", "/d/me:1000")
	c := k.caller()
	c.Files = ignoreWrites{k, "cgroup.subtree_control"}
	k.groups["/d"].subtree, k.groups[""].subtree = nil, slices.Clone(allControllers)
	if d, err := Discover(t.Context(), c, need); err == nil {
		t.Errorf("%s has no controllers for its leaves", d.Path)
	}
}

// TestRemoveRetries : the kernel keeps the directory for a moment after the last process.
func TestRemoveRetries(t *testing.T) {
	k, d := delegation(t)
	leaf, err := d.NewLeaf(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	busy := 3
	k.fault = func(op, _ string) error {
		if op == "rmdir" && busy > 0 {
			busy--
			return syscall.EBUSY
		}
		return nil
	}
	if err := leaf.Remove(t.Context()); err != nil || busy > 0 {
		t.Errorf("%v, %d busy answers left", err, busy)
	}
}

// TestSweep : what a killed run left is removed by the next one, what a living run holds is not.
func TestSweep(t *testing.T) {
	k := newKernel(0, "", "/ethos::cpu,memory,pids", "/ethos/run-1-1", "/ethos/run-2-1", "/ethos/run-3-1", "/ethos/other")
	k.groups["/ethos/run-3-1"].procs = []string{"4242"} // its maker is dead, it is about to be
	k.locks["/sys/fs/cgroup/ethos/run-2-1"] = true
	if _, err := Discover(t.Context(), k.caller(), need); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"/ethos/run-1-1": false, "/ethos/run-2-1": true, "/ethos/run-3-1": false, "/ethos/other": true} {
		if got := k.groups[id] != nil; got != want {
			t.Errorf("%s is there: %v, want %v", id, got, want)
		}
	}
	if len(k.locks) != 1 {
		t.Errorf("locks %v", k.locks)
	}
}

// TestTopIsRemadeWhenSwept : another run that ends may remove the empty group between two steps of this one.
func TestTopIsRemadeWhenSwept(t *testing.T) {
	k := newKernel(0, "")
	d, err := Discover(t.Context(), k.caller(), need)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Rmdir(d.Path); err != nil {
		t.Fatal(err)
	}
	works(t, k, d)
}

// TestOneDelegationServesEveryLimit : found for one set of limits, it also has what another needs, as far as the host does.
func TestOneDelegationServesEveryLimit(t *testing.T) {
	for _, c := range []struct {
		parent string
		want   string
	}{
		{"/d:1000:cpu,io,memory,pids", ""},
		{"/d:1000:memory,pids", "cpu"},
	} {
		k := newKernel(user, "/d/me", c.parent, "/d/me:1000")
		if c.want != "" {
			k.groups[""].subtree = []string{"memory", "pids"}
		}
		d, err := Discover(t.Context(), k.caller(), Limits{Pids: 5}.Controllers())
		if err != nil {
			t.Fatal(err)
		}
		lacking, err := d.Lacks(need)
		if err != nil || strings.Join(lacking, " ") != c.want {
			t.Errorf("%s: lacks %q, %v, want %q", c.parent, lacking, err, c.want)
		}
	}
}

func TestLeavesHaveNamesOfTheirOwn(t *testing.T) {
	_, d := delegation(t)
	seen := map[string]bool{}
	for range 10 {
		leaf, err := d.NewLeaf(Limits{Pids: 1})
		if err != nil {
			t.Fatal(err)
		}
		if seen[leaf.Path] {
			t.Errorf("%s twice", leaf.Path)
		}
		seen[leaf.Path] = true
	}
}
