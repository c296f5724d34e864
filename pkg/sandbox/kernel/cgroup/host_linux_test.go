package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"

	"golang.org/x/sys/unix"
)

// The tests in this file use the machine's own cgroups. Where there are none to be had they say so and are counted;
// the kernel lab runs them on kernels where there are.

const childEnv = "ETHOS_CGROUP_TEST_CHILD"

// marker is the last thing a child writes: without it, it did not come to its end.
const marker = "the child came to its end"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		child(job)
	}
	m.Run()
}

// child does what a hostile command does.
func child(job string) {
	switch job {
	case "look":
		own, err := readOwn(Host{})
		fatal(err)
		fmt.Println(own)
	case "eat": // memory, in two processes, until somebody is killed
		go startSelf("eat alone")
		eat()
	case "eat alone":
		eat()
	case "fork": // until refused
		for {
			if err := startSelf("sleep"); err != nil {
				fmt.Println(err)
				break
			}
		}
	case "spin":
		for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
		}
	case "hide": // a grandchild in a session of its own, left by its parent
		fatal(startSelf("sleep"))
	case "kill nobody":
		for _, pid := range []string{"", "x", "-1x", "0"} {
			if kill(pid) == nil {
				fatal(fmt.Errorf("%q was killed", pid))
			}
		}
	case "sleep":
		time.Sleep(time.Minute)
	}
	fmt.Println(marker)
	os.Exit(0)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func startSelf(job string) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func eat() {
	for range 256 {
		page, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		fatal(err)
		for i := 0; i < len(page); i += 4096 {
			page[i] = 1
		}
	}
}

// realDelegation is one of this machine, or none and the test is not run.
func realDelegation(t *testing.T) *Delegation {
	t.Helper()
	var d *Delegation
	probetest.NeedFunc(t, "cgroup", func() string {
		found, err := Discover(t.Context(), Self(), need)
		var u *Unavailable
		if errors.As(err, &u) {
			return err.Error()
		}
		if err != nil {
			t.Fatal(err)
		}
		d = found
		return ""
	})
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func realLeaf(t *testing.T, limits Limits) *Leaf {
	t.Helper()
	leaf, err := realDelegation(t).NewLeaf(limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(leaf.Kill(), leaf.Remove(context.Background())); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(leaf.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind: %v", leaf.Path, err)
		}
	})
	return leaf
}

// run starts the child inside the leaf and waits for it.
func run(t *testing.T, leaf *Leaf, job string) (string, error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: leaf.FD()}
	out := filepath.Join(t.TempDir(), "out") // a file: a pipe would wait for the grandchildren
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	runErr := cmd.Run()
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), runErr
}

func finished(t *testing.T, text string, err error) {
	t.Helper()
	if err != nil || !strings.HasSuffix(text, marker+"\n") {
		t.Fatalf("the child did not come to its end: %v: %s", err, text)
	}
}

func TestHostChildIsBornInside(t *testing.T) {
	leaf := realLeaf(t, Limits{MemoryBytes: 64 << 20, Pids: 50, CPUPercent: 100})
	text, err := run(t, leaf, "look")
	finished(t, text, err)
	if own, _, _ := strings.Cut(text, "\n"); !strings.HasSuffix(own, "/"+filepath.Base(leaf.Path)) {
		t.Errorf("the child was in %s, not in %s", own, leaf.Path)
	}
	u, err := leaf.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if u.CPU <= 0 || u.CPU < u.UserCPU {
		t.Errorf("CPU time %v, user %v", u.CPU, u.UserCPU)
	}
	for _, file := range u.Unknown {
		t.Logf("this kernel has no %s", file)
	}
}

func TestHostMemory(t *testing.T) {
	leaf := realLeaf(t, Limits{MemoryBytes: 48 << 20, Pids: 50})
	text, err := run(t, leaf, "eat")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("a child over the limit ended with %v: %s", err, text)
	}
	await(t, leaf) // memory.oom.group: the other one is dead too
	u, err := leaf.Usage()
	if err != nil || u.OOMKills == 0 {
		t.Errorf("OOM kills %d, %v", u.OOMKills, err)
	}
	if u.MemoryPeak > 49<<20 { // the kernel may overcharge by pages
		t.Errorf("peak %d is over the limit", u.MemoryPeak)
	}
}

// await waits until nothing is alive in the leaf.
func await(t *testing.T, leaf *Leaf) {
	t.Helper()
	for range 500 {
		populated, err := leaf.Populated()
		if err != nil {
			t.Fatal(err)
		}
		if !populated {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("processes are still in the leaf")
}

func TestHostPids(t *testing.T) {
	leaf := realLeaf(t, Limits{Pids: 40})
	text, err := run(t, leaf, "fork")
	finished(t, text, err)
	if !strings.Contains(text, "resource temporarily unavailable") {
		t.Errorf("a fork bomb ended with %q", text)
	}
	u, err := leaf.Usage()
	if err != nil || u.PidsDenied == 0 {
		t.Errorf("forks refused %d, %v", u.PidsDenied, err)
	}
}

func TestHostCPU(t *testing.T) {
	leaf := realLeaf(t, Limits{CPUPercent: 20})
	text, err := run(t, leaf, "spin")
	finished(t, text, err)
	u, err := leaf.Usage()
	if err != nil || u.Throttled == 0 {
		t.Errorf("throttled %v, %v", u.Throttled, err)
	}
}

func TestHostKillReachesEverySession(t *testing.T) {
	leaf := realLeaf(t, Limits{Pids: 50})
	text, err := run(t, leaf, "hide")
	finished(t, text, err)
	if populated, err := leaf.Populated(); err != nil || !populated {
		t.Fatalf("the grandchild is not there: %v, %v", populated, err)
	}
	pids, err := os.ReadFile(leaf.Path + "/cgroup.procs")
	if err != nil {
		t.Fatal(err)
	}
	if err := leaf.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, leaf)
	for pid := range strings.FieldsSeq(string(pids)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, n)
	}
}

// bareLeaf is a leaf without limits and a cgroup below it, which needs no controller to be delegated.
func bareLeaf(t *testing.T) (leaf, below *Leaf) {
	t.Helper()
	probetest.Need(t, probetest.Root) // it lies at the top of the hierarchy
	path := ""
	probetest.NeedFunc(t, "cgroup", func() string {
		h, err := readHierarchy(Host{})
		if err != nil || h.point == "" {
			return fmt.Sprint("no cgroup v2 is mounted: ", err)
		}
		path = fmt.Sprintf("%s/ethos-test-%d-%d", h.point, os.Getpid(), serial.Add(1))
		if err := (Host{}).Mkdir(path); err != nil {
			return err.Error()
		}
		return ""
	})
	leaf, below = &Leaf{Path: path, files: Host{}}, &Leaf{Path: path + "/below", files: Host{}}
	for _, l := range []*Leaf{leaf, below} {
		if err := mkdirAny(l.files, l.Path); err != nil {
			t.Fatal(err)
		}
		dir, err := l.files.OpenLocked(l.Path)
		if err != nil {
			t.Fatal(err)
		}
		l.dir = dir
	}
	t.Cleanup(func() { // without what is tested here, so that nothing is left if it is broken
		if err := os.WriteFile(path+"/cgroup.kill", []byte("1"), 0); err != nil { // before Linux 5.14
			_ = leaf.killEach()
		}
		for _, l := range []*Leaf{below, leaf} {
			err := unix.EBUSY
			for range 500 {
				if err, _ = unix.Rmdir(l.Path).(unix.Errno); err == 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err != 0 {
				t.Errorf("%s is left behind: %v", l.Path, err)
			}
			_ = l.dir.Close() // the directory is gone
		}
	})
	return leaf, below
}

// TestHostKillReachesDescendants : both ways of killing end what is in the leaf and in the cgroups below it, and nothing else.
func TestHostKillReachesDescendants(t *testing.T) {
	for name, kill := range map[string]func(*Leaf) error{"cgroup.kill": (*Leaf).Kill, "one after another": (*Leaf).killEach} {
		leaf, below := bareLeaf(t)
		_, beside := bareLeaf(t)
		for _, l := range []*Leaf{leaf, below, beside} {
			text, err := run(t, l, "hide")
			finished(t, text, err)
		}
		pids, err := members(Host{}, leaf.Path)
		if err != nil || len(pids) != 2 {
			t.Fatalf("%s: in the leaf are %q, %v", name, pids, err)
		}
		if err := kill(leaf); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, pid := range pids {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			awaitEnd(t, n)
		}
		if alive, err := beside.Populated(); err != nil || !alive {
			t.Errorf("%s: the process of another leaf was killed, %v", name, err)
		}
	}
}

// TestKillOfNobody : what names no process is not given to kill(2), which takes 0 for the caller's process group.
func TestKillOfNobody(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=kill nobody")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	text, err := cmd.CombinedOutput()
	finished(t, string(text), err)
}

// awaitEnd waits for a killed process: it leaves its cgroup shortly before its state says that it is dead.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	state := ""
	for range 500 {
		if state = stateOf(pid); state == "" || state == "Z" || state == "X" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is in state %s", pid, state)
}

// stateOf is the state letter of /proc/PID/stat, "" when the process is gone.
func stateOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

// TestHostSweep : a leaf whose maker was killed is removed by the next Discover, one that is held is not.
func TestHostSweep(t *testing.T) {
	d := realDelegation(t)
	orphan, err := d.NewLeaf(Limits{Pids: 5})
	if err != nil {
		t.Fatal(err)
	}
	held, err := d.NewLeaf(Limits{Pids: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Remove(context.Background())
	if err := orphan.dir.Close(); err != nil { // what the end of its maker does
		t.Fatal(err)
	}
	d.sweep()
	if _, err := os.Stat(orphan.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the orphan is left behind: %v", err)
	}
	if _, err := os.Stat(held.Path); err != nil {
		t.Errorf("the leaf of a living run was removed: %v", err)
	}
}

// TestHostFiles holds Host to what the fake kernel of the other tests does, on ordinary directories.
func TestHostFiles(t *testing.T) {
	h := Host{Root: t.TempDir()}
	steps := []struct {
		name string
		got  error
		want error
	}{
		{"mkdir", h.Mkdir("/a"), nil},
		{"mkdir again", h.Mkdir("/a"), os.ErrExist},
		{"mkdir below nothing", h.Mkdir("/x/y"), os.ErrNotExist},
		{"write to nothing", h.WriteFile("/a/f", "1"), os.ErrNotExist},
		{"writable", h.Writable("/a"), nil},
		{"rmdir of nothing", h.Rmdir("/x"), os.ErrNotExist},
	}
	for _, s := range steps {
		if !errors.Is(s.got, s.want) {
			t.Errorf("%s: %v, want %v", s.name, s.got, s.want)
		}
	}
	first, err := h.OpenLocked("/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.OpenLocked("/a"); !errors.Is(err, errLocked) {
		t.Errorf("locked twice: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if uid, err := h.Owner("/a"); err != nil || uid != os.Getuid() {
		t.Errorf("owner %d, %v", uid, err)
	}
	if names, err := h.Directories("/"); err != nil || len(names) != 1 || names[0] != "a" {
		t.Errorf("directories %q, %v", names, err)
	}
}
