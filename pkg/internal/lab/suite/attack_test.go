//go:build lab && linux

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// attackArgument makes this test program one of the commands that are confined.
const attackArgument = "attack"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == attackArgument {
		n, err := strconv.Atoi(os.Args[3])
		if err != nil {
			panic(err)
		}
		attacks[os.Args[2]](n)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var attacks = map[string]func(n int){"eat": eat, "keep": keep, "fork": fork, "spin": spin, "wait": wait, "bomb": bomb, "memfd": memfd}

// keep takes n MiB for good.
func keep(n int) {
	held := take(n)
	time.Sleep(time.Hour)
	runtime.KeepAlive(held)
}

// take takes n MiB and says so.
func take(n int) [][]byte {
	var held [][]byte
	for range n {
		page, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		for i := 0; i < len(page); i += 4096 {
			page[i] = byte(i) | 1
		}
		held = append(held, page)
	}
	fmt.Println("held", len(held))
	return held
}

func eat(n int) { take(n) }

// memfd takes n MiB that no process has mapped, and says so when that lasted.
func memfd(n int) {
	fd, err := unix.MemfdCreate("x", 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	page := make([]byte, 1<<20)
	for range n {
		if _, err := unix.Write(fd, page); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
	}
	time.Sleep(5 * time.Second)
	fmt.Println("held", n)
}

// fork starts processes until one is refused, n at most, and says how many there were.
func fork(n int) {
	for i := range n {
		cmd := exec.Command("/bin/sleep", "1000")
		if err := cmd.Start(); err != nil {
			fmt.Printf("%d: %v\n", i, err)
			return
		}
	}
	fmt.Println("never refused")
}

// bomb makes processes that do the same, without end and whatever is refused. It must not allocate: its children are copies of one thread.
func bomb(int) {
	for {
		_, _, _ = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
}

// spin uses two processors for n seconds and prints the share it got, in percent of one.
func spin(n int) {
	began := time.Now()
	for range 2 {
		go func() {
			for time.Since(began) < time.Hour {
			}
		}()
	}
	time.Sleep(time.Duration(n) * time.Second)
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	used := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	fmt.Println(int64(100 * used / time.Since(began)))
}

// wait says that it is there and waits n seconds.
func wait(n int) {
	fmt.Println("up")
	time.Sleep(time.Duration(n) * time.Second)
}
