package landlock

import (
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/child"
)

// stage names these steps in errors.
const stage = "landlock"

// Steps returns the ruleset as calls for a child that stands in its final mount namespace and has no_new_privs set;
// the last step restricts it. Paths are opened by the child, so they mean what they mean inside. ruleFD is a number
// that no descriptor of the child has: each path is duplicated to it, because a rule holds its descriptor in memory
// that has to be prepared.
//
// An empty ruleset has no steps: whether that is acceptable is what [Report.Missing] is for.
func (r Ruleset) Steps(slots *child.Slots, ruleFD int32) []child.Step {
	if r.Empty() {
		return nil
	}
	attr := r.Attr
	ruleset, opened := slots.New(), slots.New()
	create := step("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", child.Ptr(&attr), child.Int(unsafe.Sizeof(attr)), child.Int(0))
	create.Save = ruleset
	steps := append(make([]child.Step, 0, 4*len(r.Paths)+len(r.Ports)+3), create)
	for _, p := range r.Paths {
		steps = append(steps, p.steps(ruleset, opened, ruleFD)...)
	}
	if len(r.Paths) > 0 {
		steps = append(steps, step("close", unix.SYS_CLOSE, "", child.Int(ruleFD)))
	}
	for _, p := range r.Ports {
		steps = append(steps, step("landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, "", child.From(ruleset), child.Int(ll.RuleTypeNetPort), child.Ptr(p.Attr()), child.Int(0)))
	}
	return append(steps,
		step("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", child.From(ruleset), child.Int(r.Flags)),
		step("close", unix.SYS_CLOSE, "", child.From(ruleset)))
}

func (p PathRule) steps(ruleset, opened child.Slot, ruleFD int32) []child.Step {
	how := p.how()
	open := step("openat2", unix.SYS_OPENAT2, p.Path, child.Int(unix.AT_FDCWD), child.Str(p.Path), child.Ptr(how), child.Int(unix.SizeofOpenHow))
	open.Save = opened
	return []child.Step{
		open,
		step("dup3", unix.SYS_DUP3, p.Path, child.From(opened), child.Int(ruleFD), child.Int(unix.O_CLOEXEC)),
		step("close", unix.SYS_CLOSE, p.Path, child.From(opened)),
		step("landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, p.Path, child.From(ruleset), child.Int(ll.RuleTypePathBeneath), child.Ptr(p.Attr(ruleFD)), child.Int(0)),
	}
}

func step(call string, nr uintptr, object string, args ...child.Arg) child.Step {
	s := child.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}
