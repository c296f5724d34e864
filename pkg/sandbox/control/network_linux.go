package control

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/plan"
)

// network is a network namespace with no interface but loopback: network_namespaces(7).
type network struct{ namespace }

func newNetwork(j *Job) *network {
	return &network{namespace{j, plan.ControlNetwork, "network", "net", unix.CLONE_NEWNET}}
}

func (n *network) Plan() (string, bool) { return n.Job.Plan.Network, n.Job.Plan.Network != "host" }

func (n *network) Steps(at Phase, p *Program) {
	n.namespace.Steps(at, p)
	if at == InitInside && slices.Contains([]string{"loopback", "proxy"}, n.Job.Plan.Network) {
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
	if up := n.Job.Plan.Network != "none"; seen.LoopbackUp != up {
		return fmt.Errorf("network namespace: loopback up is %v, not %v", seen.LoopbackUp, up)
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

func (n *network) Evidence(e *record.Sandbox, enforced bool) { e.NetworkIsolated = enforced }

func (n *network) Hint() string { return "use --net none or --net loopback" }
