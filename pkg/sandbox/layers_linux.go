package sandbox

import (
	"context"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/child"
	"ethos/pkg/sandbox/landlock"
	"ethos/pkg/sandbox/mount"
	"ethos/pkg/sandbox/seccomp"
)

// layers are the parts of a plan that depend on what the kernel can hold.
type layers struct {
	landlock       landlock.Ruleset
	landlockReport landlock.Report
	landlockErr    error
	filters        []filter
	*resources
}

// prepare finds out what this kernel can hold of the plan. An error is a [*Refusal].
func prepare(ctx context.Context, p *Plan) (layers, error) {
	var l layers
	kernel, err := landlock.Probe()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return l, &Refusal{Code: CodeSetup, Err: err, Hint: "a seccomp filter around this process may refuse landlock(7); allow landlock_create_ruleset, landlock_add_rule, landlock_restrict_self"}
	}
	l.landlockErr = err
	l.landlock, l.landlockReport = landlock.Build(kernel.ABI, landlockRequest(p))
	if l.filters, err = filters(p); err != nil {
		return l, err
	}
	l.resources, err = takeResources(ctx, p)
	return l, err
}

// landlockRequest holds the path table a second time, by another mechanism.
func landlockRequest(p *Plan) landlock.Request {
	// Connecting to pathname sockets is held by the mount table; Landlock can only from ABI 9, and is not asked to where it cannot.
	q := landlock.Request{FS: landlock.AllFS &^ landlock.ResolveUnix, Scope: landlock.AbstractUnix | landlock.Signal}
	if p.Network == "none" {
		q.Net = landlock.BindTCP | landlock.ConnectTCP
	}
	const look = landlock.Execute | landlock.Read
	const change = look | landlock.Write
	add := func(path string, access landlock.FS, file bool) {
		q.Paths = append(q.Paths, landlock.PathRule{Path: path, Access: access, File: file})
	}
	add("/", landlock.ReadDir, false)
	add("/proc", landlock.Read, false)
	add("/dev", landlock.Read|landlock.WriteFile|landlock.Truncate|landlock.IoctlDev, false)
	for _, e := range p.Paths {
		switch e.Access {
		case ReadOnly:
			if e.Exists {
				add(e.Path, look, !e.Dir)
			}
		case ReadWrite, Private:
			add(e.Path, change, !e.Dir)
		}
	}
	for _, m := range p.Mounts {
		switch {
		case m.Kind == mount.Overlay, managed(m) && m.Writable:
			add(m.Target, change, false)
		case managed(m):
			add(m.Target, look, true)
		}
	}
	return q
}

// landlockSteps make the ruleset and put it on the calling process. The rules are for the very descriptors that were mounted; trees has them.
func (l layers) landlockSteps(slots *child.Slots, trees map[string]child.Slot) []child.Step {
	if l.landlock.Empty() {
		return nil
	}
	const stage = "landlock"
	attr, ruleset := l.landlock.Attr, slots.New()
	create := step(stage, "landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", child.Ptr(&attr), child.Int(unsafe.Sizeof(attr)), child.Int(0))
	create.Save = ruleset
	steps := append(make([]child.Step, 0, len(l.landlock.Paths)+2), create)
	for _, rule := range l.landlock.Paths {
		at := rule.Attr(-1)
		add := step(stage, "landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, rule.Path, child.From(ruleset), child.Int(unix.LANDLOCK_RULE_PATH_BENEATH), child.Ptr(at), child.Int(0))
		add.Fill, add.FillFrom = &at.ParentFD, trees[rule.Path]
		steps = append(steps, add)
	}
	return append(steps, step(stage, "landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", child.From(ruleset), child.Int(l.landlock.Flags)))
}

// seccompSteps load the filters: seccomp(2), SECCOMP_SET_MODE_FILTER. no_new_privs must be set.
func (l layers) seccompSteps() []child.Step {
	var steps []child.Step
	for _, f := range l.filters {
		steps = append(steps, step("seccomp", "seccomp", unix.SYS_SECCOMP, f.name, child.Int(seccomp.SetModeFilter), child.Int(f.flags), child.Ptr(f.program.Fprog())))
	}
	return steps
}
