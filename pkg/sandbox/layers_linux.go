package sandbox

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
)

// layers are the parts of a plan that depend on what the kernel can hold.
type layers struct {
	landlock       landlock.Ruleset
	landlockReport landlock.Report
	landlockErr    error
	filters        []filter
	machine        *machine
	sockets        sockets
	*resources
}

// prepare finds out what this kernel can hold of the plan. An error is a [*Refusal].
func prepare(ctx context.Context, p *Plan) (layers, error) {
	l := layers{machine: thisMachine()}
	kernel, err := landlock.Probe()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return l, &Refusal{Code: CodeSetup, Err: err, Hint: "a seccomp filter around this process may refuse landlock(7); allow landlock_create_ruleset, landlock_add_rule, landlock_restrict_self"}
	}
	l.landlockErr = err
	l.landlock, l.landlockReport = landlock.Build(kernel.ABI, landlockRequest(p, kernel.ABI))
	if l.filters, err = filters(p, os.ReadFile); err != nil {
		return l, err
	}
	if err = l.prepareSockets(p); err != nil {
		return l, err
	}
	l.resources, err = takeResources(ctx, p, l.machine)
	return l, err
}

// resolveUnixABI is the first with a right for connecting to socket files.
const resolveUnixABI = 9

// resolvable: Landlock has the right, and every declared socket has an entry of its own, which a rule is made for. One in a writable tree has none.
func resolvable(p *Plan, abi int) bool {
	covered := func(path string) bool {
		return slices.ContainsFunc(p.Paths, func(e Entry) bool { return e.Path == path && e.Access == ReadWrite })
	}
	return abi >= resolveUnixABI && !slices.ContainsFunc(p.Sockets, func(path string) bool { return !covered(path) })
}

// landlockRequest holds the path table a second time, by another mechanism.
func landlockRequest(p *Plan, abi int) landlock.Request {
	q := landlock.Request{FS: landlock.AllFS, Scope: landlock.AbstractUnix | landlock.Signal}
	if !resolvable(p, abi) { // seccomp user notification holds it there: it is not asked for and missed
		q.FS &^= landlock.ResolveUnix
	}
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
	const device = landlock.ReadFile | landlock.WriteFile | landlock.Truncate | landlock.IoctlDev
	add("/dev", device|landlock.ReadDir, false)
	for _, e := range p.Paths {
		switch e.Access {
		case ReadOnly:
			if e.Exists {
				add(e.Path, look, !e.Dir)
			}
		case ReadWrite, Private:
			if slices.Contains(p.Sockets, e.Path) {
				add(e.Path, change|landlock.ResolveUnix, true)
				continue
			}
			add(e.Path, change, !e.Dir)
		}
	}
	for _, m := range p.Mounts {
		switch {
		case m.Kind == mount.Overlay, managed(m) && m.Writable:
			add(m.Target, change, false)
		case managed(m):
			add(m.Target, look, true)
		case m.Device: // also as the caller opened it: /dev/stdin may be the host's /dev/null
			add(m.Target, device, true)
		}
	}
	return q
}

// landlockSteps make the ruleset and put it on the calling process. The rules are for the very descriptors that were mounted; trees has them. The streams must be in
// their places.
func (l layers) addLandlock(list []steps.Step, slots *steps.Slots, trees map[string]steps.Slot, io stdio) []steps.Step {
	if l.landlock.Empty() {
		return list
	}
	const stage = "landlock"
	attr, ruleset := l.landlock.Attr, slots.New()
	create := step(stage, "landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", steps.Ptr(&attr), steps.Int(unsafe.Sizeof(attr)), steps.Int(0))
	create.Save = ruleset
	list = append(list, create)
	for _, rule := range l.landlock.Paths {
		at := rule.Attr(-1)
		add := addRule(rule.Path, ruleset, at)
		add.Fill, add.FillFrom = &at.ParentFD, trees[rule.Path]
		list = append(list, add)
	}
	for i, fd := range io {
		if rule := l.landlock.OnFile(l.machine.opened(fd)); rule.Access != 0 {
			list = append(list, addRule("/dev/fd/"+strconv.Itoa(i), ruleset, rule.Attr(int32(i))))
		}
	}
	return append(list, step(stage, "landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", steps.From(ruleset), steps.Int(l.landlock.Flags)))
}

func addRule(object string, ruleset steps.Slot, rule *landlock.PathAttr) steps.Step {
	return step("landlock", "landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, object, steps.From(ruleset), steps.Int(unix.LANDLOCK_RULE_PATH_BENEATH), steps.Ptr(rule), steps.Int(0))
}

// seccompSteps load the filters: seccomp(2), SECCOMP_SET_MODE_FILTER. no_new_privs must be set.
func (l layers) seccompSteps() []steps.Step {
	var list []steps.Step
	for _, f := range l.filters {
		list = append(list, step("seccomp", "seccomp", unix.SYS_SECCOMP, f.name, steps.Int(seccomp.SetModeFilter), steps.Int(f.flags), steps.Ptr(f.program.Fprog())))
	}
	return list
}
