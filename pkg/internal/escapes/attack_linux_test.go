package escapes

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attack is this test binary as an attacker: "sys CALL ARG… , CALL ARG…" makes system calls one after the other in a process with one thread; other words are attacks that
// need more than that. It ends with 0 when all went through, else it prints the errno.
func attack(args []string) int {
	if len(args) == 0 {
		return usage("no attack is named")
	}
	if args[0] == "sys" {
		return sys(args[1:])
	}
	run, ok := programs[args[0]]
	if !ok {
		return usage("unknown attack " + args[0])
	}
	return report(args[0], run(args[1:]))
}

func usage(what string) int {
	fmt.Fprintln(os.Stderr, "attack:", what)
	return 2
}

// report prints an error with the errno's name.
func report(what string, err error) int {
	if err == nil {
		return 0
	}
	var errno syscall.Errno
	for e := err; e != nil; {
		if n, ok := e.(syscall.Errno); ok {
			errno = n
			break
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
	fmt.Printf("%s: %v errno=%s\n", what, err, unix.ErrnoName(errno))
	return 1
}

// rawCall is one prepared call; an argument is the result of an earlier one where from is not 0.
type rawCall struct {
	name string
	nr   uintptr
	args [6]uintptr
	from [6]int
	fork bool
	may  bool // fail
}

var kept [][]byte // what arguments point to

func sys(words []string) int {
	var calls []rawCall
	var one []string
	for _, w := range append(words, ",") {
		if w != "," {
			one = append(one, w)
			continue
		}
		c, err := prepare(one)
		if err != nil {
			return usage(err.Error())
		}
		calls, one = append(calls, c), nil
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return report("pipe", err)
	}
	pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		return report("clone", e)
	}
	if pid == 0 {
		perform(calls, pipe[1])
	}
	var status syscall.WaitStatus
	syscall.Wait4(int(pid), &status, 0, nil)
	if status.Signaled() {
		fmt.Printf("signal=%s\n", unix.SignalName(status.Signal()))
		return 1
	}
	if status.ExitStatus() == 0 {
		return 0
	}
	var failed [2]int32
	if _, err := syscall.Read(pipe[0], (*[8]byte)(unsafe.Pointer(&failed))[:]); err != nil {
		return report("read", err)
	}
	return report(calls[failed[0]].name, syscall.Errno(failed[1]))
}

// perform runs in a copy of one thread: it must not allocate, nor enter the scheduler, which the prologue of a function does when the one before the copy was asked to yield.
//
//go:nosplit
func perform(calls []rawCall, pipe int) {
	var results [16]uintptr
	for i := range calls {
		c := &calls[i]
		for n, from := range c.from {
			if from > 0 {
				c.args[n] = results[from-1]
			}
		}
		r, _, e := syscall.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
		if e != 0 && !c.may {
			failed := [2]int32{int32(i), int32(e)}
			syscall.RawSyscall(unix.SYS_WRITE, uintptr(pipe), uintptr(unsafe.Pointer(&failed)), 8)
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
		}
		if r == 0 && c.fork { // the new process has shown what it had to
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		results[i] = r
	}
	syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}

func prepare(words []string) (c rawCall, err error) {
	if len(words) == 0 || len(words) > 7 {
		return c, fmt.Errorf("%q is not a call of at most six arguments", words)
	}
	c.name, c.may = strings.CutPrefix(words[0], "~")
	c.fork = c.name == "clone" || c.name == "clone3"
	if nr, ok := numbers[c.name]; ok {
		c.nr = nr
	} else if nr, err := strconv.ParseUint(c.name, 0, 64); err == nil {
		c.nr = uintptr(nr)
	} else {
		return c, fmt.Errorf("unknown system call %s", c.name)
	}
	for i, w := range words[1:] {
		if c.args[i], c.from[i], err = argument(w); err != nil {
			return c, err
		}
	}
	return c, nil
}

// argument reads a number, s:STRING, x:HEX, z:SIZE of zeros, or rN for the result of call N.
func argument(w string) (value uintptr, from int, err error) {
	memory := func(b []byte) uintptr {
		kept = append(kept, b)
		return uintptr(unsafe.Pointer(&b[0]))
	}
	kind, rest, ok := strings.Cut(w, ":")
	switch {
	case ok && kind == "s":
		return memory(append([]byte(rest), 0)), 0, nil
	case ok && kind == "x":
		b, err := hex.DecodeString(rest)
		return memory(append(b, 0)), 0, err
	case ok && kind == "z":
		n, err := strconv.Atoi(rest)
		return memory(make([]byte, n+1)), 0, err
	case w[0] == 'r':
		n, err := strconv.Atoi(w[1:])
		return 0, n + 1, err
	}
	if n, err := strconv.ParseInt(w, 0, 64); err == nil {
		return uintptr(n), 0, nil
	}
	n, err := strconv.ParseUint(w, 0, 64)
	return uintptr(n), 0, err
}

// programs are the attacks that are more than a list of calls.
var programs = map[string]func(args []string) error{
	"dial":   dial,
	"nested": nested,
	"sleep":  func([]string) error { time.Sleep(time.Minute); return nil },
	"elf":    func(args []string) error { return os.WriteFile(args[0], i386ELF(), 0o755) },
	"exec":   func(args []string) error { return syscall.Exec(args[0], args, nil) },
	"memfd":  memfd,
	"mmap":   mapShared,
	"tty":    tty,
	"fds":    fds,
	"vm":     vm,
	"ping":   ping,
	"serve":  serveFile,
	"hog":    hog,
	"forks":  forks,
	"hold":   hold,
	"crowd":  crowd,
}

// dial sends a word and wants one back.
func dial(args []string) error {
	c, err := net.DialTimeout(args[0], args[1], time.Minute)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 6))
	return err
}

// ping is a sender and its receiver on one interface of its own: a twin.
func ping(args []string) error {
	l, err := net.Listen(args[0], args[1])
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.Copy(c, c)
		}
	}()
	return dial([]string{args[0], l.Addr().String()})
}

// serveFile answers on a socket file for as long as one case may take.
func serveFile(args []string) error {
	l, err := net.Listen("unix", args[0])
	if err != nil {
		return err
	}
	time.AfterFunc(30*time.Second, func() { os.Exit(0) })
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { io.Copy(c, c); c.Close() }()
	}
}

// i386ELF is a 64-bit program that makes a 32-bit call, getpid by int 0x80, and ends with 0 when that gave a pid.
func i386ELF() []byte {
	code := []byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20
		0xcd, 0x80, // int 0x80
		0x31, 0xff, // xor edi, edi
		0x85, 0xc0, // test eax, eax
		0x7f, 0x05, // jg +5
		0xbf, 1, 0, 0, 0, // mov edi, 1
		0xb8, 60, 0, 0, 0, // mov eax, 60
		0x0f, 0x05, // syscall
	}
	const base, headers = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := make([]byte, headers)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 2)  // ET_EXEC
	le.PutUint16(b[18:], 62) // EM_X86_64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[24:], base+headers)
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	p := b[64:]
	le.PutUint32(p, 1)     // PT_LOAD
	le.PutUint32(p[4:], 5) // R X
	le.PutUint64(p[16:], base)
	le.PutUint64(p[24:], base)
	le.PutUint64(p[32:], uint64(headers+len(code)))
	le.PutUint64(p[40:], uint64(headers+len(code)))
	le.PutUint64(p[48:], 0x1000)
	return append(b, code...)
}

// memfd executes a program that has no path.
func memfd(args []string) error {
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, text); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/fd/"+strconv.Itoa(fd), args, nil)
}

// mapShared writes to a file through a mapping of it.
func mapShared(args []string) error {
	fd, err := unix.Open(args[0], map[string]int{"ro": unix.O_RDONLY, "rw": unix.O_RDWR}[args[1]], 0)
	if err != nil {
		return err
	}
	b, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	b[0] = 'X'
	return unix.Msync(b, unix.MS_SYNC)
}

// tty makes an ioctl on a terminal that it controls.
func tty(args []string) error {
	request, err := strconv.ParseUint(args[0], 0, 64)
	if err != nil {
		return err
	}
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	unix.Setsid()
	slave, err := unix.Open("/dev/pts/"+strconv.Itoa(n), unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	var value [64]byte
	value[0] = 'x'
	if _, _, e := syscall.Syscall(unix.SYS_IOCTL, uintptr(slave), uintptr(request), uintptr(unsafe.Pointer(&value[0]))); e != 0 {
		return e
	}
	return nil
}

// fds looks for descriptors above 2 that it did not open, and says whether there is one.
func fds([]string) error {
	for fd := 3; fd < 1024; fd++ {
		link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err == nil && !strings.HasPrefix(link, "anon_inode:") && !strings.HasPrefix(link, "/sys/fs/cgroup/") { // the Go runtime's own
			fmt.Println("descriptor", fd, "is", link)
			return nil
		}
	}
	return syscall.EBADF
}

// vm reads the memory of another process.
func vm(args []string) error {
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	maps, err := os.ReadFile("/proc/" + args[0] + "/maps")
	if err != nil {
		return err
	}
	start, _, _ := strings.Cut(string(maps), "-")
	at, err := strconv.ParseUint(start, 16, 64)
	if err != nil {
		return err
	}
	b := make([]byte, 8)
	_, err = unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: uintptr(at), Len: 8}}, 0)
	return err
}

// hog touches memory, in MiB.
func hog(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	b, err := unix.Mmap(-1, 0, n<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return nil
}

// forks makes processes that live until it ends.
func forks(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var pids []int
	defer func() {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	}()
	for range n {
		pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e != 0 {
			return e
		}
		if pid == 0 {
			for {
				syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		pids = append(pids, int(pid))
	}
	return nil
}

// crowd makes processes in sessions of their own, says so, and lives on with them for as long as a watch may take.
func crowd(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range n {
		pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e != 0 {
			return e
		}
		if pid == 0 {
			syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
			second := unix.Timespec{Sec: 40}
			syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&second)), 0, 0, 0)
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	if n > 20 {
		time.Sleep(30 * time.Second)
	}
	fmt.Println("survived")
	return nil
}

// hold writes so many MiB to memory of its own, or to shared memory that it then has not mapped, says so, and lives on for as long as a watch may take.
func hold(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	size := uintptr(n) << 20
	switch args[0] {
	case "private":
		if err := hog(args[1:]); err != nil {
			return err
		}
	case "memfd", "scratch":
		fd, err := unix.MemfdCreate("x", 0)
		if args[0] == "scratch" {
			fd, err = unix.Open("/dev/shm/x", unix.O_CREAT|unix.O_WRONLY, 0o600)
		}
		if err != nil {
			return err
		}
		for chunk := make([]byte, 1<<20); n > 0; n-- {
			if _, err := unix.Write(fd, chunk); err != nil {
				return err
			}
		}
	case "segment":
		id, _, e := unix.Syscall(unix.SYS_SHMGET, 0, size, 0o1600)
		if e != 0 {
			return e
		}
		at, _, e := unix.Syscall(unix.SYS_SHMAT, id, 0, 0)
		if e != 0 {
			return e
		}
		for i := uintptr(0); i < size; i += 4096 {
			*(*byte)(unsafe.Add(unsafe.Pointer(nil), at+i)) = 1
		}
		unix.Syscall(unix.SYS_SHMDT, at, 0, 0)
	}
	fmt.Println("held")
	hold := time.Second
	if size > 64<<20 { // more than the limit, alone or together: time enough for the watch, on the slowest machine
		hold = 30 * time.Second
	}
	time.Sleep(hold)
	fmt.Println("survived")
	return nil
}
