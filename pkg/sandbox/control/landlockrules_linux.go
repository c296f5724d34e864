package control

import (
	"context"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/bwrap"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// resolveUnixABI is the first ABI with a right for connecting to socket files.
const resolveUnixABI = 9

// resolvable reports whether Landlock can control connections to socket files: the kernel
// has the right, and every declared socket has an entry of its own, for which a rule is
// made. A socket in a writable tree has none.
func resolvable(p *plan.Plan, abi int) bool {
	covered := func(path string) bool {
		return slices.ContainsFunc(p.Paths, func(e plan.Entry) bool { return e.Path == path && e.Access == plan.ReadWrite })
	}
	return abi >= resolveUnixABI && !slices.ContainsFunc(p.Sockets, func(path string) bool { return !covered(path) })
}

// handled returns the rights that are denied unless a rule allows them, and the rules on
// ports.
func handled(p *plan.Plan) landlock.Request {
	q := landlock.Request{FS: landlock.AllFS, Scope: landlock.AbstractUnix | landlock.Signal}
	if p.Network == "none" {
		q.Net = landlock.BindTCP | landlock.ConnectTCP
	}
	if p.Ports != nil {
		portRules(&q, p.Ports.Connect, landlock.ConnectTCP)
		portRules(&q, p.Ports.Bind, landlock.BindTCP)
	}
	return q
}

func landlockRequest(p *plan.Plan, abi int) landlock.Request {
	q := handled(p)
	if p.NestedUserns == capability.NestedMounts { // hook_sb_mount in security/landlock/fs.c denies every mount to a domain that handles file rights
		q.FS = 0
		return q
	}
	if !resolvable(p, abi) { // seccomp user notification handles it, so it is not reported as missing
		q.FS &^= landlock.ResolveUnix
	}
	const read = landlock.Execute | landlock.Read
	const change = read | landlock.Write
	add := func(path string, access landlock.FS, file bool) {
		if slices.ContainsFunc(p.DenyExec, func(dir string) bool { return mount.Within(path, dir) }) {
			access &^= landlock.Execute
		}
		q.Paths = append(q.Paths, landlock.PathRule{Path: path, Access: access, File: file})
	}
	add("/", landlock.ReadDir, false)
	proc := landlock.Read
	if p.NestedUserns != "" { // for the maps of user namespaces; everything but processes is on a read-only mount
		proc |= landlock.WriteFile | landlock.Truncate
	}
	add("/proc", proc, false)
	const device = landlock.ReadFile | landlock.WriteFile | landlock.Truncate | landlock.IoctlDev
	add("/dev", device|landlock.ReadDir, false)
	for _, e := range p.Paths {
		switch e.Access {
		case plan.ReadOnly:
			if e.Exists && !p.Linked(e.Path) {
				add(e.Path, read, !e.Dir)
			}
		case plan.ReadWrite, plan.Private:
			if slices.Contains(p.Sockets, e.Path) {
				add(e.Path, change|landlock.ResolveUnix, true)
				continue
			}
			if e.Path == plan.SigningDir { // init creates the socket before the domain exists
				add(e.Path, change|landlock.ResolveUnix, false)
				continue
			}
			add(e.Path, change, !e.Dir)
		}
	}
	for _, m := range p.Mounts {
		switch {
		case m.Kind == mount.Overlay, plan.Managed(m) && m.Writable:
			add(m.Target, change, false)
		case plan.Managed(m), m.Kind == mount.Text:
			add(m.Target, read, m.File)
		case m.Device: // also for a device that the caller opened: /dev/stdin may be the host's /dev/null
			add(m.Target, device, true)
		}
	}
	return q
}

// portRules adds the rules of a list of ports that limits a right. [plan.Build] has checked
// the numbers.
func portRules(q *landlock.Request, list []string, right landlock.Net) {
	numbers, limited, _ := capability.Ports(list, true)
	if limited {
		q.Net |= right
	}
	for _, n := range numbers {
		q.Ports = append(q.Ports, landlock.PortRule{Port: n, Access: right})
	}
}

// aloneABI is the first ABI that can protect files without mounts. Earlier ones have no
// right for truncate(2), Linux 6.2.
const aloneABI = 3

// withoutNamespaces returns a hint for a machine without user namespaces for the caller: the
// backends that may work there; "" if there is none.
func withoutNamespaces() (hint string) {
	const mostly = "/usr/local/bin:/usr/bin:/bin"
	if _, err := bwrap.Find(context.Background(), mostly, nil); err == nil {
		hint = "; or, if bubblewrap may make them here: ethos-sandbox run --backend bwrap"
	}
	if kernel, err := landlock.Probe(); err == nil && kernel.ABI >= aloneABI {
		hint += "; or use a weaker boundary without namespaces: ethos-sandbox run --backend landlock"
	}
	return hint
}

// grantRequest returns the request of a run without namespaces: only the grants of the plan
// and the private directory.
func grantRequest(p *plan.Plan, scratch string) landlock.Request {
	q := handled(p)
	q.FS &^= landlock.ResolveUnix // the command can connect no Unix socket
	for _, g := range p.Grants {
		q.Paths = append(q.Paths, landlock.PathRule{Path: g.Path, Access: rightsOf(g.Rights), File: g.File})
	}
	if scratch != "" {
		q.Paths = append(q.Paths, landlock.PathRule{Path: scratch, Access: landlock.Execute | landlock.Read | landlock.Write})
	}
	return q
}

func rightsOf(r plan.Rights) (fs landlock.FS) {
	const content = landlock.WriteFile | landlock.Truncate
	for right, of := range map[plan.Rights]landlock.FS{
		plan.MayRead: landlock.ReadFile, plan.MayList: landlock.ReadDir, plan.MayExecute: landlock.Execute, plan.MayWrite: content,
		plan.MayMake: landlock.Write &^ content, plan.MayControl: landlock.IoctlDev,
	} {
		if r&right != 0 {
			fs |= of
		}
	}
	return fs
}
