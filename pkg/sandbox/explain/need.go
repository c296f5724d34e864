package explain

import (
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// Need is what a command asked of a path.
type Need struct {
	Path    string // absolute, as the command named it; "" for an address
	Write   bool
	Entry   bool           // its name is to be removed: this changes the directory around it
	Socket  bool           // it was to be connected to
	Address netip.AddrPort // on the internet
	Process string         // the process that asked; "" if it was not observed
	Call    string
	Count   int
}

// Explainer knows the plan of a run and the host.
type Explainer struct {
	plan   *plan.Plan
	files  plan.Files
	uid    int
	groups []int
}

// New returns an Explainer. uid and groups are the caller's.
func New(p *plan.Plan, files plan.Files, uid int, groups []int) *Explainer {
	return &Explainer{p, files, uid, groups}
}

// Here returns an Explainer for this machine and the user of this process.
func Here(p *plan.Plan) *Explainer {
	groups, _ := os.Getgroups() // on error, files of a group count as unreadable
	return New(p, plan.HostFiles{}, os.Geteuid(), groups)
}

// own lists the trees of which a command has its own version. The outside
// version is irrelevant for it, and every program looks into them.
var own = []string{"/proc", "/sys", "/dev"}

// target is what a need refers to outside.
type target struct {
	plan.Location
	write  bool
	making bool // the path is a directory in which something was to be created
}

// Denial says what the boundary refused of a need. ok is false if nothing was
// refused, or if it would have failed outside, too.
func (x *Explainer) Denial(n Need) (d record.Denial, ok bool) {
	if !filepath.IsAbs(n.Path) || strings.ContainsRune(n.Path, 0) || len(n.Path) > maxPath {
		return d, false
	}
	t, ok := x.locate(n)
	if !ok || within(t.Path, own) {
		return d, false
	}
	kind := x.kind(t)
	if kind == "" {
		return d, false
	}
	d = record.Denial{
		Layer: "mount", What: shown(t.Path), Path: t.Path, Kind: kind, Process: shown(n.Process), Call: n.Call, Count: n.Count,
		Certainty: record.Inferred,
	}
	if kind == record.KindSocket {
		d.Layer = "unix_sockets"
	}
	if n.Call != "" {
		d.Certainty = record.Exact
	}
	x.propose(&d, t)
	return d, true
}

const maxPath = 4096 // PATH_MAX of linux/limits.h

// locate finds what a need refers to. It does not find what does not exist
// outside either, or what the caller could not use there.
func (x *Explainer) locate(n Need) (target, bool) {
	at, err := plan.Locate(x.files, n.Path)
	if err != nil {
		return target{}, false
	}
	t := target{Location: at, write: n.Write}
	if !at.Exists {
		if !n.Write || strings.HasSuffix(n.Path, "/..") {
			return t, false
		}
		if t.Location, err = plan.Locate(x.files, filepath.Dir(at.Path)); err != nil || !t.Exists || !t.Mode.IsDir() {
			return t, false
		}
		t.making = true
	}
	if n.Entry && !t.making && at.Exists && !x.mountPoint(at.Path) {
		if t.Location, err = plan.Locate(x.files, filepath.Dir(at.Path)); err != nil {
			return t, false
		}
		t.making = true
	}
	if n.Socket != (t.Mode&fs.ModeSocket != 0) && (n.Socket || n.Call != "") { // harmless
		return t, false
	}
	if t.write {
		return t, x.files.Writable(t.Path)
	}
	return t, x.readable(t.Location)
}

// mountPoint reports whether a name can be neither removed nor replaced, because
// it is protected by itself and not by the directory around it.
func (x *Explainer) mountPoint(path string) bool {
	if writable, agents := x.plan.OfAgent(path); agents && !writable {
		return true
	}
	return slices.ContainsFunc(x.plan.Paths, func(e plan.Entry) bool { return e.Path == path && plan.Protective(x.plan.Paths, e) })
}

// readable checks the permission bits: the caller is the owner, in the group,
// or other.
func (x *Explainer) readable(at plan.Location) bool {
	perm := at.Mode.Perm()
	switch {
	case x.uid == 0 || at.Mode&fs.ModeSocket != 0:
		return true
	case int(at.Owner) == x.uid:
		return perm&0o400 != 0
	case slices.Contains(x.groups, int(at.Group)):
		return perm&0o040 != 0
	}
	return perm&0o004 != 0
}

// kind compares the access inside with the access outside; "" means no
// difference.
func (x *Explainer) kind(t target) string {
	inside := plan.Covering(x.plan.Paths, t.Path)
	if writable, ok := x.plan.OfAgent(t.Path); ok {
		switch {
		case writable == t.write: // its own directory, or a setting that it reads
			return ""
		case writable && !x.plan.OfAgentBelow(t.Path):
			return ""
		case writable:
			return record.KindHidden
		}
		return record.KindReadOnly
	}
	switch {
	case t.Mode&fs.ModeSocket != 0:
		if slices.Contains(x.plan.Sockets, t.Path) {
			return ""
		}
		return record.KindSocket
	case inside.Access == plan.ReadWrite:
		return ""
	case inside.Access == plan.ReadOnly && t.write:
		return record.KindReadOnly
	case inside.Access == plan.ReadOnly:
		return ""
	case inside.Access == plan.Private && inside.Path == t.Path: // the command's own version is there
		return ""
	case t.Mode.IsDir() && !t.making && x.above(t.Path): // shown empty, or only with declared paths below
		return ""
	}
	return record.KindHidden
}

// above reports whether a directory exists inside only because something below
// it does.
func (x *Explainer) above(dir string) bool {
	return slices.ContainsFunc(x.plan.Paths, func(e plan.Entry) bool { return e.Access != plan.Hidden && e.Path != dir && mount.Within(e.Path, dir) })
}

func within(path string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return mount.Within(path, tree) })
}
