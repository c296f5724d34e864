package plan

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/mount"
)

// nests reports whether the command may make user namespaces.
func (b *builder) nests() bool { return cmp.Or(b.set.NestedUserns, "none") != "none" }

// nestedUserns sets which user namespaces the command may make. Mounts inside them are
// refused if only a mount keeps a host path in its place. A mount point can be renamed and
// removed from a mount namespace that lacks the mount, and a command that may mount can
// make such a namespace; see is_local_mountpoint in fs/namespace.c. Landlock would protect
// such paths, but denies every mount to the processes that it confines.
func (b *builder) nestedUserns(p *Plan) error {
	if !b.nests() {
		return nil
	}
	p.NestedUserns = b.set.NestedUserns
	switch {
	case p.NestedUserns != capability.NestedNamespaces && p.NestedUserns != capability.NestedMounts:
		return Refuse(CodeDeclaration, "use "+capability.NestedNamespaces+", "+capability.NestedMounts+" or none", "unknown nested_userns %q", p.NestedUserns)
	case b.uid == 0: // verify_root_map in kernel/user_namespace.c, Linux 5.12
		return Refuse(CodeUnsupported, "run it as an ordinary user", "nested user namespaces do not work for root: to map uid 0 into one needs CAP_SETFCAP, which no command has")
	case p.NestedUserns == capability.NestedNamespaces:
		return nil
	case len(p.DenyExec) > 0:
		return Refuse(CodeDeclaration, "remove one of the two", "execution is denied in %s, but a command that mounts an overlay of it could execute there", p.DenyExec[0])
	}
	for i := range p.Mounts {
		m := &p.Mounts[i]
		if above := p.around(m); above != nil && m.Kind != mount.Symlink {
			return Refuse(CodeDeclaration, "write into a view with --view copy-on-write, --transaction or --mode verify, or write nothing with --profile lint-offline; "+
				"for a browser, --allow-nested-userns without mounts is enough", "a mount keeps %s in place in %s, which is writable; a command that mounts could move it", m.Target, above.Target)
		}
	}
	b.note("landlock", "it protects no files, because it would refuse every mount; the mounts alone protect them")
	return nil
}

// around returns the mount of the writable host directory that contains a mount, or nil.
func (p *Plan) around(m *mount.Mount) *mount.Mount {
	var above *mount.Mount
	for k := range p.Mounts {
		o := &p.Mounts[k]
		if o.Target != m.Target && o.Kind != mount.Symlink && mount.Within(m.Target, o.Target) && (above == nil || mount.Depth(o.Target) > mount.Depth(above.Target)) {
			above = o
		}
	}
	inView := func(path string) bool {
		return p.View != nil && slices.ContainsFunc(p.View.Roots, func(root string) bool { return mount.Within(path, root) })
	}
	if above == nil || above.Kind != mount.Bind || !above.Writable || inView(above.Source) {
		return nil
	}
	return above
}

// closedProc makes everything in a writable /proc read-only except the process directories:
// those are where the maps of a user namespace are written, while the other files belong to
// the machine. /proc/sys would be writable for the host's uid 0, whatever its capabilities.
func (b *builder) closedProc() (list []mount.Mount) {
	if !b.nests() {
		return nil
	}
	list = []mount.Mount{{Kind: mount.Closed, Target: "/proc/sys", Why: whyOfMachine}}
	entries, _ := b.files.files.Entries("/proc") // a doubtful error refuses the plan
	for _, e := range entries {
		path := "/proc/" + e.Name()
		info, err := b.files.lstat(path)
		switch {
		case strings.Trim(e.Name(), "0123456789") == "" || e.Name() == "sys" || e.Type()&fs.ModeSymlink != 0 || slices.Contains(procSecrets, path):
		case e.IsDir():
			list = append(list, mount.Mount{Kind: mount.Closed, Target: path, Why: whyOfMachine})
		case err == nil && info != nil && info.Mode().Perm()&0o222 != 0:
			list = append(list, mount.Mount{Kind: mount.Closed, Target: path, File: true, Why: whyOfMachine})
		}
	}
	return list
}
