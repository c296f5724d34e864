package mount

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// few says which mounts can do with few descriptors.
type few struct {
	needed func(*Mount) bool
	within map[string]bool // targets of binds that are made from the bind around them
}

// thrift decides whether the descriptors of mounts stay open. A command decides
// how many mounts the next plan has, but not how many descriptors a process may
// have open (RLIMIT_NOFILE), so if they could become scarce, each is closed as
// soon as possible. A plan with few mounts saves the calls. Descriptors that stay
// open must not reach those of overlays, either.
func (b *builder) thrift(opts Options) {
	const each = 3 // descriptors of a mount
	if uint64(each*len(b.mounts)) <= min(opts.OpenFiles, overlayFD)/2 {
		return
	}
	needed := opts.Needed
	if needed == nil {
		needed = func(*Mount) bool { return true }
	}
	b.few = &few{needed: needed, within: map[string]bool{}}
	above := make(map[string]*Mount, len(b.mounts))
	for i := range b.mounts {
		m := &b.mounts[i]
		if around := over(above, m.Target); around != nil && around.shows(m) {
			b.few.within[m.Target] = true
		}
		if m.Kind != Symlink {
			above[m.Target] = m
		}
	}
}

// shows reports whether a bind around another one shows the same directory or
// file at the other's target, with no restriction that the other lacks.
func (m *Mount) shows(in *Mount) bool {
	same := func(m *Mount) bool { return m.Kind == Bind && m.Source == m.Target && !m.Device }
	return same(m) && same(in) && (m.Writable || !in.Writable) && (!m.NoExec || in.NoExec)
}

// inside reports whether a bind is made from what the bind around it shows. It
// takes no descriptor before that one is in place.
func (f *few) inside(m *Mount) bool { return f != nil && f.within[m.Target] }

// hold makes a mount out of a part of the mount around it, in the same place.
// Nobody can exchange the part meanwhile: it is opened once.
func (b *builder) hold(m *Mount) {
	at, tree := b.slots.New(), b.slots.New()
	b.add(into(openat2(atCwd(), inRoot(m.Target), m.Target, !m.File), at), into(cloneTree(at, m.Target), tree), setAttr(tree, attributes(m), m.Target), attachAt(tree, at, m.Target))
	b.Trees[m.Target] = tree
	b.shut(m, at)
	b.unneeded(m, tree)
}

// unneeded closes the descriptor of a mount that nothing else uses.
func (b *builder) unneeded(m *Mount, tree steps.Slot) {
	if b.few != nil && m.Kind != MaskOpen && !b.few.needed(m) {
		delete(b.Trees, m.Target)
		b.shut(m, tree)
	}
}

// shut closes a descriptor, if descriptors are scarce.
func (b *builder) shut(m *Mount, fd steps.Slot) {
	if b.few != nil {
		b.add(step("close", unix.SYS_CLOSE, m.Target, steps.From(fd)))
	}
}
