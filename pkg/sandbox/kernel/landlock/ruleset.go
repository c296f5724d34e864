package landlock

import (
	"slices"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Request is what a caller wants to be enforced.
type Request struct {
	FS    FS    // handled: denied unless a rule grants it
	Net   Net   // handled: denied for every port unless a rule grants it
	Scope Scope // confined to the restricted processes
	Log   Log
	Paths []PathRule
	Ports []PortRule
}

// PathRule grants rights on a path and, if it is a directory, on everything
// below it.
type PathRule struct {
	Path   string // absolute, as seen by the confined process; without symbolic links
	Access FS
	File   bool // it is not a directory
}

// PortRule grants rights on a port. Port 0 with BindTCP is any ephemeral port.
type PortRule struct {
	Port   uint16
	Access Net
}

// Ruleset is the part of a Request that one ABI can enforce.
type Ruleset struct {
	Attr  ll.RulesetAttr // struct landlock_ruleset_attr; its tail is zero, which older kernels accept
	Paths []PathRule     // masked; none has no rights left
	Ports []PortRule     // masked; none has no rights left
	Flags uint32         // of landlock_restrict_self(2)
}

// Empty reports whether there is nothing to enforce. The kernel rejects such a
// ruleset with ENOMSG.
func (r Ruleset) Empty() bool {
	return r.Attr.HandledAccessFS|r.Attr.HandledAccessNet|r.Attr.Scoped == 0
}

// Report states which parts of a Request are enforced. The lists name rights as
// fs.read_file, net.bind_tcp, scope.signal, log.new_exec_on.
type Report struct {
	ABI      int      // the ABI that was used: the kernel's, at most NewestABI; 0 for none
	Asked    []string // handled rights, scopes and flags of the request
	Enforced []string // those that the ruleset enforces
	Missing  []string // those that this ABI does not know
	// Stricter lists rights that are denied whatever the rules grant:
	// fs.refer on ABI 1.
	Stricter []string
}

// Full reports whether everything requested is enforced.
func (r Report) Full() bool { return len(r.Missing) == 0 }

// Build returns the part of a request that an ABI can enforce, and a report.
// abi is the result of [Probe]; 0 or less means no Landlock.
//
// Rights are reduced to those that the ABI knows and, for files, to those that
// apply to files. A rule without remaining rights is dropped. No other rule is:
// a path that cannot be opened later is an error then.
func Build(abi int, q Request) (Ruleset, Report) {
	abi = min(max(abi, 0), NewestABI)
	k := rightsOf(abi)
	handled := known{q.FS & k.fs, q.Net & k.net, q.Scope & k.scope, q.Log & k.log}
	rules := Ruleset{
		Attr:  ll.RulesetAttr{HandledAccessFS: uint64(handled.fs), HandledAccessNet: uint64(handled.net), Scoped: uint64(handled.scope)},
		Flags: uint32(handled.log),
	}
	for _, p := range q.Paths {
		if p.Access = p.mask(handled.fs); p.Access != 0 {
			rules.Paths = append(rules.Paths, p)
		}
	}
	for _, p := range q.Ports {
		if p.Access &= handled.net; p.Access != 0 {
			rules.Ports = append(rules.Ports, p)
		}
	}
	return rules, report(abi, q, handled)
}

// OnFile returns a rule for an open file, with those of the rights that the
// ruleset handles. The file may be of any type but a directory; for a
// directory, rights such as make_reg would be lost.
func (r Ruleset) OnFile(access FS) PathRule {
	p := PathRule{Access: access, File: true}
	p.Access = p.mask(FS(r.Attr.HandledAccessFS))
	return p
}

// mask returns the rights of the rule that the kernel accepts; others would
// yield EINVAL.
func (p PathRule) mask(handled FS) FS {
	if p.File {
		handled &= fileRights
	}
	return p.Access & handled
}

func report(abi int, q Request, handled known) Report {
	asked := known{q.FS, q.Net, q.Scope, q.Log}
	r := Report{ABI: abi, Asked: asked.names(), Enforced: handled.names(), Stricter: []string{}}
	r.Missing = slices.DeleteFunc(slices.Clone(r.Asked), func(name string) bool { return slices.Contains(r.Enforced, name) })
	if abi == 1 && handled.fs != 0 { // security/landlock/fs.c of Linux 5.13 always denies reparenting, with EXDEV
		r.Stricter = append(r.Stricter, "fs.refer")
		r.Missing = slices.DeleteFunc(r.Missing, func(name string) bool { return name == "fs.refer" })
	}
	return r
}

func (k known) names() []string {
	return slices.Concat(
		names(uint64(k.fs), "fs.", fsNames[:]),
		names(uint64(k.net), "net.", netNames[:]),
		names(uint64(k.scope), "scope.", scopeNames[:]),
		names(uint64(k.log), "log.", logNames[:]),
	)
}
