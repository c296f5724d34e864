package limits

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const childEnv = "ETHOS_LIMITS_TEST_CHILD"

// init runs on the main thread, which the child that ends its main thread needs.
func init() {
	if job := os.Getenv(childEnv); job != "" {
		child(job)
	}
}

// child takes memory in one of several ways, says so, and waits to be killed.
func child(job string) {
	switch job {
	case "private and shared":
		take(32<<20, unix.MAP_PRIVATE)
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), childEnv+"=shared")
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
	case "shared":
		take(32<<20, unix.MAP_SHARED)
		fmt.Println("ready")
		rest()
	case "memfd": // written to, not mapped; two descriptors of one, and a second process that has it too
		fd, err := unix.MemfdCreate("hidden", 0)
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		text := make([]byte, 1<<20)
		for range 32 {
			unix.Write(fd, text)
		}
		unix.Dup(fd)
		if err := exec.Command("sleep", "1000").Start(); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		fmt.Println("ready")
		rest()
	case "segment":
		id, _, e := unix.Syscall(unix.SYS_SHMGET, 0, 32<<20, 0o1600)
		at, _, e2 := unix.Syscall(unix.SYS_SHMAT, id, 0, 0)
		if e != 0 || e2 != 0 {
			fmt.Println(e, e2)
			os.Exit(3)
		}
		for i := uintptr(0); i < 32<<20; i += 4096 {
			*(*byte)(unsafe.Add(unsafe.Pointer(nil), at+i)) = 1
		}
		unix.Syscall(unix.SYS_SHMDT, at, 0, 0)
		fmt.Println("ready")
		rest()
	case "thread":
		runtime.LockOSThread()
		ready := make(chan bool)
		go func() {
			runtime.LockOSThread()
			take(48<<20, unix.MAP_PRIVATE)
			close(ready)
			fmt.Println("ready")
			rest()
		}()
		<-ready
		unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // the main thread alone; not RawSyscall, which would take a processor of the runtime along
	}
	os.Exit(0)
}

func take(bytes, flags int) {
	page, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_ANONYMOUS)
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	for i := 0; i < len(page); i += 4096 {
		page[i] = 1
	}
}

// rest blocks in the kernel, out of the runtime's sight.
func rest() {
	for {
		unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// start starts a child in a process group of its own, and waits until it has taken its memory.
func start(t *testing.T, job string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	slow := time.AfterFunc(2*time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer slow.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return cmd
}

func TestKernelSample(t *testing.T) {
	for _, c := range []struct {
		job       string
		processes int
		bytes     int64
	}{
		{"private and shared", 2, 64 << 20},
		{"thread", 1, 48 << 20}, // its main thread is gone, its memory is not
	} {
		cmd := start(t, c.job)
		for _, exact := range []bool{false, true} {
			got, err := Tree{Init: cmd.Process.Pid}.Sample(exact)
			if err != nil {
				t.Fatal(err)
			}
			if got.Processes != c.processes || got.Bytes < c.bytes || got.Bytes > 2*c.bytes {
				t.Errorf("%s, exact %v: %+v, want %d processes and %d bytes", c.job, exact, got, c.processes, c.bytes)
			}
		}
	}
}

// TestKernelShared: memory that no process has mapped counts, each piece once, and an ordinary look does not search for it where there cannot be any.
func TestKernelShared(t *testing.T) {
	segments, err := os.Open("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	before := (&Shared{Segments: segments}).segments()
	for job, want := range map[string]int64{"memfd": 32<<20 + before, "segment": 32<<20 + before} {
		cmd := start(t, job)
		shared := &Shared{Segments: segments}
		plain, err := Tree{Init: cmd.Process.Pid}.Sample(false)
		if err != nil || plain.Bytes > want*3/4 { // the processes themselves, which the race detector makes larger
			t.Errorf("%s: without it %+v, %v", job, plain, err)
		}
		got, err := Tree{Init: cmd.Process.Pid, Held: shared.Held(256 << 20)}.Sample(true)
		removeSegments(cmd.Process.Pid)
		if grown := got.Bytes - plain.Bytes; err != nil || got.Bytes < want || grown > want+want/2 {
			t.Errorf("%s: %+v, want %d above %d; %v", job, got, want, plain.Bytes, err)
		}
	}
}

// TestSharedMade: of System V segments only those count, if asked, that processes of the tree have made, and they count when their maker has ended.
func TestSharedMade(t *testing.T) {
	segments, err := os.Open("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	cmd, other := start(t, "segment"), start(t, "shared")
	defer removeSegments(cmd.Process.Pid)
	mine, theirs := &Shared{Segments: segments, Made: true}, &Shared{Segments: segments, Made: true}
	for _, step := range []struct {
		shared *Shared
		pids   []int
		want   int64
	}{{theirs, []int{other.Process.Pid}, 0}, {mine, []int{cmd.Process.Pid}, 32 << 20}, {mine, nil, 32 << 20}, {theirs, nil, 0}} {
		if got := step.shared.Held(1<<40)(step.pids, false); got != step.want {
			t.Errorf("of %v: %d, want %d", step.pids, got, step.want)
		}
	}
}

// TestSharedSearch: descriptors are searched when the machine's shared memory has grown by an eighth of the limit, and now and then without.
func TestSharedSearch(t *testing.T) {
	root := t.TempDir()
	meminfo := func(kib int) {
		if err := os.WriteFile(root+"/meminfo", fmt.Appendf(nil, "MemTotal: 1 kB\nShmem: %d kB\n", kib), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const limit = 8 << 20
	s := &Shared{memfds: 77}
	for _, step := range []struct {
		shmem    int
		searched bool
	}{{0, false}, {1000, false}, {1025, true}, {1025, false}, {500, false}, {1400, false}, {1525, true}} {
		meminfo(step.shmem)
		s.memfds = 77
		if got := s.bytes(root, nil, limit, false); (got == 0) != step.searched {
			t.Errorf("%+v: %d", step, got)
		}
	}
	s.memfds = 77
	for range maxLooks + 1 {
		s.bytes(root, nil, limit, false)
	}
	if s.memfds != 0 {
		t.Error("nothing was searched without growth")
	}
}

// removeSegments removes the System V segments that a process made.
func removeSegments(pid int) {
	text, _ := os.ReadFile("/proc/sysvipc/shm")
	for line := range strings.Lines(string(text)) {
		if c := strings.Fields(line); len(c) > 4 && c[4] == fmt.Sprint(pid) {
			id, _ := strconv.Atoi(c[1])
			unix.Syscall(unix.SYS_SHMCTL, uintptr(id), 0, 0) // IPC_RMID
		}
	}
}

func TestKernelWatchEndsTheTree(t *testing.T) {
	cmd := start(t, "private and shared")
	w := Watch{Tree: Tree{Init: cmd.Process.Pid}, Limit: 40 << 20, Interval: time.Millisecond, Over: func(Sample) {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}}
	peak, err := w.Run(t.Context())
	if err != nil || peak.Bytes < w.Limit {
		t.Errorf("%+v, %v", peak, err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("the tree ended with %v", err)
	}
	// The twin: below the limit, nothing is killed.
	cmd = start(t, "private and shared")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w = Watch{Tree: Tree{Init: cmd.Process.Pid}, Limit: 1 << 30, Interval: time.Millisecond, Over: func(s Sample) { t.Errorf("over the limit: %+v", s) }}
	if peak, err := w.Run(ctx); err != nil || peak.Processes != 2 {
		t.Errorf("%+v, %v", peak, err)
	}
}

func TestSameMemory(t *testing.T) {
	if sameMemory(os.Getpid(), os.Getppid()) {
		t.Error("this process shares memory with its parent")
	}
}

// TestKernelTakesTheTable sets the table on a process and reads it back by the names the kernel prints.
func TestKernelTakesTheTable(t *testing.T) {
	cmd := start(t, "thread")
	pid := cmd.Process.Pid
	bounds := Bounds{CPU: 3 * time.Second, FileBytes: 1 << 20, Processes: 4000, OpenFiles: 100}
	for _, r := range Rlimits(bounds, Current) {
		if err := unix.Prlimit(pid, int(r.Resource), &unix.Rlimit{Cur: r.Soft, Max: r.Hard}, nil); err != nil {
			t.Fatalf("%v: %v", r.Resource, err)
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Max cpu time": "3 8 seconds", "Max file size": "1048576 1048576 bytes",
		"Max core file size": "0 0 bytes", "Max open files": "100 100 files",
	} {
		_, line, _ := strings.Cut(string(text), name)
		line, _, _ = strings.Cut(line, "\n")
		if got := strings.Join(strings.Fields(line), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
