package control

import (
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/plan"
)

// network is a network namespace without interfaces other than loopback:
// network_namespaces(7).
type network struct {
	namespace
	counters [2]int // descriptors of /proc/PID/net/snmp and snmp6 of the namespace, until the end; 0 is none
}

func newNetwork(j *Job) *network {
	return &network{namespace: newNamespace(j, plan.ControlNetwork, "network", "net", unix.CLONE_NEWNET)}
}

func (n *network) Requested() (string, bool) { return n.Job.Plan.Network, n.Job.Plan.Network != "host" }

func (n *network) Steps(at Phase, p *Program) {
	n.namespace.Steps(at, p)
	if at == InitInside && !n.Wrapped && slices.Contains([]string{"loopback", "proxy"}, n.Job.Plan.Network) {
		p.Init = append(p.Init, netns.LoopbackSteps(&p.Slots)...)
	}
}

func (n *network) VerifyPlace(pid int) error {
	if err := n.namespace.VerifyPlace(pid); err != nil || n.Job.Plan.Network == "host" {
		return err
	}
	seen, err := netns.Read(pid, readProc)
	if err != nil {
		return Unreadable(err)
	}
	for _, name := range seen.Interfaces {
		if name != "lo" && !dormant(name) {
			return fmt.Errorf("network namespace: it has the interface %s", name)
		}
	}
	if up := n.Job.Plan.Network != "none" || n.Wrapped; seen.LoopbackUp != up { // bwrap raises it in any case
		return fmt.Errorf("network namespace: loopback up is %v, not %v", seen.LoopbackUp, up)
	}
	for i, name := range []string{"snmp", "snmp6"} { // an open file keeps the namespace alive
		if fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/net/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			n.counters[i] = fd
		}
	}
	return nil
}

// End reads the counters if the command failed.
func (n *network) End() {
	var text [2][]byte
	for i, fd := range n.counters {
		if fd == 0 {
			continue
		}
		if n.Failed {
			text[i], _ = readAll(fd, "counters") // without it less is reported
		}
		unix.Close(fd)
	}
	n.counters = [2]int{}
	n.Met = netns.ParseUnmet(text[0], text[1])
}

// dormant reports whether an interface is a fallback device that a tunnel module adds to
// every new network namespace, down and without an address:
// net.core.fb_tunnels_only_for_init_net.
func dormant(name string) bool {
	switch name {
	case "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0":
		return true
	}
	return false
}

// Report states what bwrap makes of no network.
func (n *network) Report(line record.Control) record.Control {
	if line.State == Enforced && n.Wrapped && n.Job.Plan.Network == "none" {
		line.Enforced = "none but a loopback interface of its own"
	}
	return line
}

// Evidence reports that a failed command tried to use a network that it does not have,
// according to the kernel's counters.
func (n *network) Evidence(e *record.Sandbox, enforced bool) {
	e.NetworkIsolated = enforced
	has, ok := map[string]string{"none": "the command has no network", "loopback": "the command has only its own loopback network"}[n.Job.Plan.Network]
	if !ok || !enforced {
		return
	}
	tell := func(times int64, what string) {
		if times > 0 {
			e.Denials = append(e.Denials, record.Denial{Layer: plan.ControlNetwork, What: what, Reason: fmt.Sprintf("%s, and tried it %s", has, counted(times)), Remedy: "--allow-domain NAME"})
		}
	}
	tell(n.Met.NoRoute, "an address outside")
	if n.Met.NoRoute == 0 {
		tell(n.Met.NoPort, "a datagram to a port on which nothing listens")
	}
}

func counted(times int64) string {
	if times == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", times)
}

func (n *network) Hint() string { return "use --net none or --net loopback" }
