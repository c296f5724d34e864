package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/netns"
)

// observed is the state of the waiting command, read back from the kernel by this process.
type observed struct {
	pid        int
	own        [len(namespaceLinks)]unix.Stat_t // this process's namespaces
	namespaces map[string]bool                  // name in a plan: it is not this process's
	mountinfo  string
	cgroup     string
	net        netns.State
	table      *os.File // of mounts; it also tells when it changes
	status     statusText
	held       bool // all of it is as planned
}

// namespaceLinks are the names of a plan's namespaces, and theirs in /proc/PID/ns: namespaces(7).
var namespaceLinks = [...]struct{ name, link string }{
	{"user", "user"}, {"mount", "mnt"}, {"pid", "pid"}, {"ipc", "ipc"}, {"uts", "uts"}, {"cgroup", "cgroup"}, {"network", "net"},
}

// ownNamespaces looks at those of this process.
func (o *observed) ownNamespaces() error {
	for i := range namespaceLinks {
		if err := stat("/proc/self/ns/"+namespaceLinks[i].link, &o.own[i]); err != nil {
			return err
		}
	}
	return nil
}

func stat(path string, to *unix.Stat_t) error {
	if err := unix.Stat(path, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readPlace reads what surrounds the command's process: all that init has built. It does not judge.
func (o *observed) readPlace(pid int) error {
	if pid <= 0 {
		return errors.New("the confined process has no pid in this PID namespace")
	}
	o.pid, o.namespaces = pid, make(map[string]bool, len(namespaceLinks))
	dir := "/proc/" + strconv.Itoa(pid)
	for i, n := range namespaceLinks {
		var st unix.Stat_t // two processes are in one namespace when their links lead to one file
		if err := stat(dir+"/ns/"+n.link, &st); err != nil {
			return err
		}
		o.namespaces[n.name] = st.Dev != o.own[i].Dev || st.Ino != o.own[i].Ino
	}
	text, err := readProc(dir + "/cgroup")
	if err != nil {
		return err
	}
	o.cgroup = string(text)
	if o.net, err = netns.Read(pid, readProc); err != nil {
		return err
	}
	fd, err := unix.Open(dir+"/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s/mountinfo: %w", dir, err)
	}
	o.table = os.NewFile(uintptr(fd), dir+"/mountinfo")
	return o.readTable()
}

// readStatus reads what the command's process has done to itself.
func (o *observed) readStatus() error {
	text, err := readProc("/proc/" + strconv.Itoa(o.pid) + "/status")
	o.status = statusText(text)
	return err
}

// readTable reads the mount table as it is now.
func (o *observed) readTable() error {
	if _, err := unix.Seek(int(o.table.Fd()), 0, io.SeekStart); err != nil {
		return fmt.Errorf("mount table: %w", err)
	}
	text, err := readAll(int(o.table.Fd()), o.table.Name())
	o.mountinfo = string(text)
	return err
}

// close lets go of the mount table, which keeps the mounts alive.
func (o *observed) close() {
	if o != nil && o.table != nil {
		o.table.Close()
	}
}

// readProc reads a file of proc(5) without what the os package does for files that may block.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	return readAll(fd, path)
}

func readAll(fd int, path string) ([]byte, error) {
	text := make([]byte, 0, 16<<10)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if n == 0 {
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}

// statusText is /proc/PID/status: proc_pid_status(5).
type statusText string

// field is the value of one line, "" when there is none.
func (t statusText) field(name string) string {
	for line := range strings.SplitSeq(string(t), "\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

const procHint = "proc(5) must be mounted and readable for this process"

// comparePlace compares what init has built with the plan. A difference is a refusal: what was asked for is not in force.
func (r *run) comparePlace(pid int) error {
	if err := r.seen.readPlace(pid); err != nil {
		return &Refusal{Code: CodeVerify, Err: err, Hint: procHint}
	}
	return verified(r.checkNamespaces, r.checkMounts, r.checkNetwork, r.checkCgroup)
}

// compareCommand compares the confined command with the plan.
func (r *run) compareCommand() error {
	if err := r.seen.readStatus(); err != nil {
		return &Refusal{Code: CodeVerify, Err: err, Hint: procHint}
	}
	if err := verified(r.seen.identity, r.seen.privileges, r.checkSeccomp); err != nil {
		return err
	}
	r.seen.held = true
	r.startJudge()
	r.term = handOver(r.plan, r.io, r.seen.pid)
	return r.required()
}

func verified(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return &Refusal{Code: CodeVerify, Err: fmt.Errorf("verify: %w", err), Hint: "the kernel accepted every call and shows another state; please report it with the output of ethos-sandbox probe --json"}
		}
	}
	return nil
}

// checkCgroup: the command is in the leaf that was made for it.
func (r *run) checkCgroup() error { return r.layers.check(r.seen.cgroup) }

// required refuses a run in which a control that was asked for by name is not in full force.
func (r *run) required() error {
	if len(r.plan.Require) == 0 {
		return nil
	}
	for _, c := range r.controls() {
		if slices.Contains(r.plan.Require, c.Name) && c.State != stateEnforced {
			return lacksRequired(c, r.layers.resources)
		}
	}
	return nil
}

// identity: one uid and one gid, the caller's; PID 2 of a PID namespace one level down.
func (o *observed) identity() error {
	for _, f := range []struct {
		name string
		id   int
	}{{"Uid", os.Geteuid()}, {"Gid", os.Getegid()}} {
		for _, v := range strings.Fields(o.status.field(f.name)) {
			if v != strconv.Itoa(f.id) {
				return fmt.Errorf("%s is %s, not %d", f.name, o.status.field(f.name), f.id)
			}
		}
	}
	pids := strings.Fields(o.status.field("NSpid"))
	if len(pids) < 2 || pids[len(pids)-1] != "2" {
		return fmt.Errorf("NSpid is %q, not PID 2 of a namespace of its own", o.status.field("NSpid"))
	}
	return nil
}

func (o *observed) privileges() error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if strings.Trim(o.status.field(set), "0") != "" || o.status.field(set) == "" {
			return fmt.Errorf("capabilities: %s is %q, not empty", set, o.status.field(set))
		}
	}
	if o.status.field("NoNewPrivs") != "1" {
		return fmt.Errorf("NoNewPrivs is %q, not 1", o.status.field("NoNewPrivs"))
	}
	return nil
}

func (r *run) checkNamespaces() error {
	for _, name := range r.plan.Namespaces {
		if !r.seen.namespaces[name] {
			return fmt.Errorf("%s namespace: it is this process's own", name)
		}
	}
	return nil
}

func (r *run) checkMounts() error { return mount.Check(r.settled(), r.seen.mountinfo) }

// settled is the mounts as they came out: an overlay that could not be had in any way is its lower directory, read-only, and a /proc of files is a directory of the root.
func (r *run) settled() []mount.Mount {
	mounts := slices.Clone(r.mounts)
	for i := range mounts {
		m := &mounts[i]
		if m.Kind == mount.Overlay && len(r.fallbacks(m.Target)) >= m.Ways() {
			m.Kind, m.Writable = mount.Bind, false
		}
		if m.Kind == mount.BareProc {
			m.Kind = mount.Proc
			if len(r.fallbacks(m.Target)) > 0 {
				m.Kind = mount.Private
			}
		}
	}
	return mounts
}

func (r *run) checkNetwork() error {
	if r.plan.Network == "host" {
		return nil
	}
	for _, name := range r.seen.net.Interfaces {
		if name != "lo" && !dormant(name) {
			return fmt.Errorf("network namespace: it has the interface %s", name)
		}
	}
	if up := r.plan.Network != "none"; r.seen.net.LoopbackUp != up {
		return fmt.Errorf("network namespace: loopback up is %v, not %v", r.seen.net.LoopbackUp, up)
	}
	return nil
}

// dormant names the fallback devices that tunnel modules put into every new network namespace, down and without an address: net.core.fb_tunnels_only_for_init_net.
func dormant(name string) bool {
	switch name {
	case "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0":
		return true
	}
	return false
}

// checkSeccomp: mode 2 is a filter, linux/seccomp.h. Their number is shown since Linux 5.9; filters around this process count too.
func (r *run) checkSeccomp() error {
	if got := r.seen.status.field("Seccomp"); got != "2" {
		return fmt.Errorf("status field Seccomp is %q, not 2", got)
	}
	if n, err := strconv.Atoi(r.seen.status.field("Seccomp_filters")); err != nil || n < len(r.layers.filters)+r.layers.sockets.installed() {
		return fmt.Errorf("status field Seccomp_filters is %q, not %d", r.seen.status.field("Seccomp_filters"), len(r.layers.filters)+r.layers.sockets.installed())
	}
	return nil
}
