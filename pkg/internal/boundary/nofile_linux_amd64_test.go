package boundary

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// limited is a script that runs its arguments with another soft limit of open files.
const limited = `ulimit -Sn 300 && exec "$0" "$@"`

// TestOpensNoFiles: a program that is released starts without the files of its
// cgroup, which the runtime of this test may have opened, and has the limit of open
// files that a Go program has.
func TestOpensNoFiles(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var hard unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &hard); err != nil {
		t.Fatal(err)
	}
	record, err := exec.Command(filepath.Join(filepath.Dir(exe), "ethos-facts"), "-c", "ls").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", limited, filepath.Join(filepath.Dir(exe), "ethos-decide"))
	if line := answered(t, cmd, string(record)); !strings.Contains(line, `"verdict"`) {
		t.Fatalf("%q", line)
	}
	if list := ofCgroup(t, cmd.Process.Pid); len(list) > 0 {
		t.Errorf("it has open %v", list)
	}
	t.Logf("this test has open %v", ofCgroup(t, os.Getpid()))
	var soft unix.Rlimit
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &soft); err != nil || soft.Max != hard.Max || soft.Cur < hard.Max-1 {
		t.Errorf("its limit is %+v, %v; that of this test is %+v", soft, err, hard)
	}
}

// answered starts a program, which lives until the test ends, and returns its first
// line of output once it has read text.
func answered(t *testing.T, cmd *exec.Cmd, text string) string {
	t.Helper()
	in, out := waiting(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := in.WriteString(text); err != nil {
		t.Fatal(err)
	}
	out.SetReadDeadline(time.Now().Add(time.Minute)) // this test holds the other end, too
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return line
}

// ofCgroup lists the files of a cgroup that a process has open.
func ofCgroup(t *testing.T, pid int) (list []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if to, _ := os.Readlink(dir + name.Name()); strings.Contains(to, "/cgroup") {
			list = append(list, to)
		}
	}
	return list
}

// TestGivenLimit: git has the limit of open files that ethos-git was started with. A
// run gives its command the one of its profile.
func TestGivenLimit(t *testing.T) {
	probetest.Need(t, "command:git")
	w := &lodge{t, space(t)}
	if out, err := exec.Command("git", "init", "-q", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := sandboxed(t, w.dir)
	cmd.Args = []string{"/bin/sh", "-c", limited, filepath.Join(filepath.Dir(cmd.Path), "ethos-git"), "cat-file", "--batch"}
	cmd.Path = "/bin/sh"
	if line := answered(t, cmd, "x\n"); line != "x missing\n" {
		t.Fatalf("%q", line)
	}
	var soft unix.Rlimit
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &soft); err != nil || soft.Cur != 300 {
		t.Errorf("the limit of git is %+v, %v", soft, err)
	}
}

// TestClosedStreams: the runtime opens the null device where a standard stream is
// closed, and so it must be able to.
func TestClosedStreams(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-git", "ethos-trace"} {
		for _, closed := range []string{"<&-", "2>&-", "<&- 2>&-"} {
			if out, err := exec.Command("/bin/sh", "-c", `"$0" --version `+closed, filepath.Join(filepath.Dir(exe), name)).Output(); err != nil || len(out) == 0 {
				t.Errorf("%s %s: %v, %q", name, closed, err, out)
			}
		}
	}
}
