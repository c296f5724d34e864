package boundary

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/textdelta"
)

// preforkedMost is the address space of an init that was cloned before the Go
// runtime started, in bytes. That of a Go program is more than ten times as large.
const preforkedMost = 100 << 20

// TestPrefork: init is the process that was cloned first, if that fits what is
// run. One that does not fit is gone, and the command runs in another.
func TestPrefork(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, c := range []struct {
		name  string
		flags []string
		says  string
		fits  bool
	}{
		{"plain", nil, "none\n", true},
		{"profile", []string{"--profile", "test-loopback"}, "none\n", true},
		{"descriptor", []string{"--fd", "9"}, "passed\n", true},
		{"network", []string{"--net", "host"}, "none\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := sandboxed(t, space(t), slices.Concat([]string{"run"}, c.flags, []string{"--", "sh", "-c", "test -e /proc/self/fd/9 && echo passed || echo none; exec cat"})...)
			in, out := waiting(t, cmd)
			if c.name == "descriptor" {
				extra(t, cmd, 9)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer in.Close()
			reader := bufio.NewReader(out)
			if line, err := reader.ReadString('\n'); line != c.says {
				t.Fatalf("%q, %v", line, err)
			}
			var kept []int
			(&lodge{t, cmd.Dir}).until("there is not one init", func() bool { // one that does not fit is ended beside the start
				kept = children(t, cmd.Process.Pid)
				return len(kept) == 1
			})
			fits := c.fits && cgroupOf(t, kept[0]) == cgroupOf(t, os.Getpid()) // init is cloned into a cgroup of its own
			if size := field(t, fmt.Sprintf("/proc/%d/status", kept[0]), "VmSize:"); size < preforkedMost != fits {
				t.Errorf("init has %d bytes of addresses", size)
			}
		})
	}
}

func cgroupOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// waiting gives a command a pipe as its input, so that it waits.
func waiting(t *testing.T, cmd *exec.Cmd) (in, out *os.File) {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	t.Cleanup(func() {
		for _, f := range []*os.File{stdin, in, out, stdout} {
			f.Close()
		}
	})
	return in, out
}

// extra passes the null device as a descriptor.
func extra(t *testing.T, cmd *exec.Cmd, fd int) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	cmd.ExtraFiles = slices.Repeat([]*os.File{null}, fd-2)
}

// children are the processes that a process has started, and has not waited for.
func children(t *testing.T, pid int) (list []int) {
	t.Helper()
	for _, child := range below(pid) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		if err != nil {
			continue // it has ended
		}
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); fields[1] == fmt.Sprint(pid) {
			list = append(list, child)
		}
	}
	return list
}

// TestPreforkEnds: where nothing is run, nothing stays, whatever the program
// becomes and however it ends.
func TestPreforkEnds(t *testing.T) {
	dir := space(t)
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"refused":    {[]string{"run", "--ro", "/nonexistent/x", "--", "true"}, 125},
		"mistaken":   {[]string{"run", "--nosuch", "--", "true"}, 125},
		"shown":      {[]string{"run", "--dry-run", "--", "true"}, 0},
		"no network": {[]string{"run", "--net", "host", "--", "true"}, 0},
		"described":  {[]string{"run", "--help", "--", "true"}, 0},
		"becoming":   {[]string{"run", "--allow-domain", "example.com", "--", "true"}, 0},
		"not found":  {[]string{"run", "--", "/nonexistent"}, 127},
		"done":       {[]string{"run", "--", "true"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			mark := "ETHOS_TEST_MARK=" + t.TempDir()
			cmd := sandboxed(t, dir, c.args...)
			cmd.Env = append(cmd.Env, mark)
			name := filepath.Join(t.TempDir(), "lock")
			cmd.ExtraFiles = []*os.File{locked(t, name)}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.status {
				t.Errorf("%v: %s", err, out)
			}
			cmd.ExtraFiles[0].Close()
			locked(t, name)
			noneWith(t, dir, mark)
		})
	}
	t.Run("killed", func(t *testing.T) {
		mark := "ETHOS_TEST_MARK=" + t.TempDir()
		cmd := sandboxed(t, dir, "run", "--", "sh", "-c", "echo begun; exec cat")
		cmd.Env = append(cmd.Env, mark)
		_, out := waiting(t, cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		noneWith(t, dir, mark)
	})
}

// locked opens a file and locks it.
func locked(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("what the program had open is still open: %v", err)
	}
	return f
}

// noneWith waits until no process has a variable in the environment with which
// it was started.
func noneWith(t *testing.T, dir, mark string) {
	t.Helper()
	(&lodge{t, dir}).until("a process stays", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		return !slices.ContainsFunc(files, func(file string) bool {
			text, _ := os.ReadFile(file) // it may have ended
			return bytes.Contains(text, []byte(mark+"\x00"))
		})
	})
}

// TestPreforkDescriptors: a command has its descriptors whatever their numbers
// are, below the limit and where the calls use numbers of their own.
func TestPreforkDescriptors(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bash")
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ limit, fd int }{{1024, 3}, {1024, 4}, {1024, 5}, {1024, 900}, {1024, 901}, {1024, 903}, {1024, 1016}, {1024, 1020}, {1024, 1023}, {128, 124}, {128, 125}, {128, 127}} {
		cmd := sandboxed(t, space(t))
		script := fmt.Sprintf(`ulimit -n %d; exec %d<<<passed; exec "$0" run --fd %[2]d -- bash -c 'cat <&%[2]d'`, c.limit, c.fd)
		cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-c", script, exe}
		if out, err := cmd.CombinedOutput(); string(out) != "passed\n" {
			t.Errorf("%+v: %v: %s", c, err, out)
		}
	}
}

// state prints what a process has of those that started it, for itself and for
// init, and what it can do to init. It has no pipeline: under a listener, the end
// of its first process could interrupt the clone of the second
// (seccomp_unotify(2)), and dash then exits with status 2.
const state = `for p in self 1; do
	cat /proc/$p/limits /proc/$p/oom_score_adj /proc/$p/timerslack_ns /proc/$p/personality /proc/$p/sessionid /proc/$p/loginuid /proc/$p/autogroup
	cat /proc/$p/uid_map /proc/$p/gid_map /proc/$p/setgroups /proc/$p/cgroup /proc/$p/coredump_filter /proc/$p/comm /proc/$p/cmdline
	grep -E '^(Umask|Uid|Gid|Groups|NS|Sig[BIC]|Cap|NoNew|Secc|Cpus|THP)' /proc/$p/status
	cut -d ' ' -f 5,6,8,18-20,40,41 /proc/$p/stat
	readlink /proc/$p/cwd /proc/$p/root /proc/$p/exe
	cat /proc/keys
	cut -d ' ' -f 4- /proc/$p/mountinfo
done 2>&1; cat /proc/1/environ /proc/1/mem /proc/1/maps 2>&1; ls /proc/1/map_files 2>&1
for s in 60 KILL STOP TERM TSTP SEGV; do kill -$s 1 2>&1; done; echo /proc/$$/fd/*; readlink /proc/$$/fd/*; set -- /proc/1/fd/*; echo $#; pwd; ulimit -a`

// TestPreforkInherits: what a command and its init have of those that started
// them does not depend on when init was cloned. A program with more variables
// than its entry point reads clones init when it has prepared everything.
func TestPreforkInherits(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bash")
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := space(t)
	for name, before := range map[string]string{
		"plain":   ":",
		"signals": "trap '' HUP INT QUIT PIPE TERM USR1 TSTP TTIN TTOU WINCH RTMIN+6",
		"limits":  "umask 027; ulimit -Sn 70; ulimit -c 0; ulimit -s 4096; ulimit -v 4000000",
		"others":  "mkdir -p sub; cd sub; exec 5</etc/passwd 7>/dev/null 200</dev/null; renice -n 3 $$ >/dev/null; echo 100 >/proc/self/oom_score_adj",
		"streams": "exec <&-",
	} {
		t.Run(name, func(t *testing.T) {
			get := func(variables ...string) string {
				cmd := sandboxed(t, dir)
				cmd.Path, cmd.Args = "/bin/bash", []string{"bash", "-c", before + `; exec "$0" run --workspace "$1" -- sh -c "$2"`, exe, dir, state}
				cmd.Env = append(cmd.Env, variables...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return steady(string(out))
			}
			var many []string
			for i := range 1100 {
				many = append(many, fmt.Sprintf("ETHOS_TEST_%d=", i))
			}
			if got, want := get(), get(many...); got != want || len(want) < 4000 {
				t.Errorf("%d lines, other than of a late clone: %q", strings.Count(got, "\n"), textdelta.Lines(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
		})
	}
}

// steady removes from a state what the next run does not have: numbers that the kernel
// gives to devices, processes and keys, and an option that an overlay has at the first use
// of an upper layer.
func steady(state string) string {
	return numbers.ReplaceAllString(strings.ReplaceAll(state, ",uuid=on", ""), "#")
}

var numbers = regexp.MustCompile(`(?m)^[0-9a-f]{8} .*$|\b0:[0-9]+\b|/[0-9]+/|:\[[0-9]+\]`)

// TestPreforkWithoutStreams: a standard stream that is missing is no trouble,
// and none of what the program opens becomes one.
func TestPreforkWithoutStreams(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{"<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"} {
		cmd := sandboxed(t, space(t))
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$0" run -- sh -c 'readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 | grep -c socket; exit 7' ` + missing, exe}
		if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 || strings.Trim(string(out), "0\n") != "" {
			t.Errorf("%s: %v: %s", missing, err, out)
		}
	}
}

// TestPreforkIsCounted: an init that does not fit has made room for the next one.
func TestPreforkIsCounted(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := sandboxed(t, space(t))
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `echo 1 >/proc/sys/user/max_user_namespaces && exec "$0" run --net host -- true`, exe}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPreforkRefused: where the kernel makes no namespaces, the reason is
// reported as ever.
func TestPreforkRefused(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := sandboxed(t, space(t))
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" run -- true`, exe}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 125 || !bytes.Contains(out, []byte("max_user_namespaces")) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPreforkUndelivered: an init that cannot receive what it has to do names the
// call that failed.
func TestPreforkUndelivered(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	cmd := lacking(t, space(t), []string{"call:dup3=EPERM"}, "run", "--", "true")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 125 || !bytes.Contains(out, []byte("dup3")) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPreforkUnkillable: an init that does not fit ends also where it cannot be
// killed.
func TestPreforkUnkillable(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, network := range []string{"host", "none"} {
		cmd := lacking(t, space(t), []string{"call:pidfd_send_signal=EPERM"}, "run", "--net", network, "--", "true")
		if status := (&lodge{t, cmd.Dir}).wait(cmd); status != 0 {
			t.Errorf("--net %s: status %d", network, status)
		}
	}
}
