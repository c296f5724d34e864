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

	"ethos/pkg/sandbox/mount"
	"ethos/pkg/sandbox/netns"
)

// observed is the state of the waiting command, read back from the kernel by this process.
type observed struct {
	pid        int
	status     map[string]string // of /proc/PID/status
	namespaces map[string]bool   // name in a plan: it is not this process's
	mountinfo  string
	cgroup     string
	net        netns.State
	table      *os.File // of mounts; it also tells when it changes
}

// namespaceLinks are the names of a plan's namespaces in /proc/PID/ns: namespaces(7).
var namespaceLinks = map[string]string{"user": "user", "mount": "mnt", "pid": "pid", "ipc": "ipc", "uts": "uts", "cgroup": "cgroup", "network": "net"}

// observe reads the state of a process. It does not judge.
func observe(pid int) (*observed, error) {
	if pid <= 0 {
		return nil, errors.New("the confined process has no pid in this PID namespace")
	}
	o := &observed{pid: pid, namespaces: make(map[string]bool, len(namespaceLinks))}
	dir := "/proc/" + strconv.Itoa(pid)
	for name, link := range namespaceLinks {
		own, err := sameFile(dir+"/ns/"+link, "/proc/self/ns/"+link)
		if err != nil {
			return nil, err
		}
		o.namespaces[name] = !own
	}
	var status string
	for _, f := range []struct {
		name string
		to   *string
	}{{"/status", &status}, {"/cgroup", &o.cgroup}} {
		text, err := readProc(dir + f.name)
		if err != nil {
			return nil, err
		}
		*f.to = string(text)
	}
	o.status = statusFields(status)
	var err error
	if o.net, err = netns.Read(pid, readProc); err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir+"/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s/mountinfo: %w", dir, err)
	}
	o.table = os.NewFile(uintptr(fd), dir+"/mountinfo")
	if err := o.readTable(); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
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

// sameFile compares the files that two links lead to: two processes are in one namespace when theirs do, namespaces(7).
func sameFile(a, b string) (bool, error) {
	var x, y unix.Stat_t
	if err := unix.Stat(a, &x); err != nil {
		return false, fmt.Errorf("%s: %w", a, err)
	}
	if err := unix.Stat(b, &y); err != nil {
		return false, fmt.Errorf("%s: %w", b, err)
	}
	return x.Dev == y.Dev && x.Ino == y.Ino, nil
}

func statusFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}

// verify compares what was read back with the plan. A difference is a refusal: what was asked for is not in force.
func (r *run) verify() error {
	checks := []func() error{r.seen.identity, r.seen.privileges, r.checkNamespaces, r.checkMounts, r.checkNetwork, r.checkSeccomp, r.checkCgroup}
	for _, check := range checks {
		if err := check(); err != nil {
			return &Refusal{Code: CodeVerify, Err: fmt.Errorf("verify: %w", err), Hint: "the kernel accepted every call and shows another state; please report it with the output of ethos-sandbox probe --json"}
		}
	}
	return r.required()
}

// checkCgroup: the command is in the leaf that was made for it.
func (r *run) checkCgroup() error { return r.layers.check(r.seen.cgroup) }

// required refuses a run in which a control that was asked for by name is not in full force.
func (r *run) required() error {
	for _, c := range r.controls() {
		if slices.Contains(r.plan.Require, c.Name) && c.State != stateEnforced {
			return refuse(CodeRequire, "ethos-sandbox probe shows what this machine can enforce", "required control %s is %s: %s", c.Name, c.State, c.Reason)
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
		for _, v := range strings.Fields(o.status[f.name]) {
			if v != strconv.Itoa(f.id) {
				return fmt.Errorf("%s is %s, not %d", f.name, o.status[f.name], f.id)
			}
		}
	}
	pids := strings.Fields(o.status["NSpid"])
	if len(pids) < 2 || pids[len(pids)-1] != "2" {
		return fmt.Errorf("NSpid is %q, not PID 2 of a namespace of its own", o.status["NSpid"])
	}
	return nil
}

func (o *observed) privileges() error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if strings.Trim(o.status[set], "0") != "" || o.status[set] == "" {
			return fmt.Errorf("capabilities: %s is %q, not empty", set, o.status[set])
		}
	}
	if o.status["NoNewPrivs"] != "1" {
		return fmt.Errorf("NoNewPrivs is %q, not 1", o.status["NoNewPrivs"])
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

// settled is the mounts as they came out: an overlay that could not be had in any way is its lower directory, read-only.
func (r *run) settled() []mount.Mount {
	mounts := slices.Clone(r.mounts)
	for i := range mounts {
		m := &mounts[i]
		if m.Kind == mount.Overlay && len(r.fallbacks(m.Target)) >= m.Ways() {
			m.Kind, m.Writable = mount.Bind, false
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
	if got := r.seen.status["Seccomp"]; got != "2" {
		return fmt.Errorf("status field Seccomp is %q, not 2", got)
	}
	if n, err := strconv.Atoi(r.seen.status["Seccomp_filters"]); err != nil || n < len(r.layers.filters) {
		return fmt.Errorf("status field Seccomp_filters is %q, not %d", r.seen.status["Seccomp_filters"], len(r.layers.filters))
	}
	return nil
}
