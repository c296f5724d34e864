package landlock

import (
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// stage names these steps in errors.
const stage = "landlock"

// Steps returns the ruleset as system calls for a child that is in its final
// mount namespace and has no_new_privs set. The last step applies the ruleset
// to the child. The child opens the paths, so they are resolved as seen inside.
// ruleFD is a descriptor number that the child does not use. The path of each
// rule is duplicated to it, because the number is part of the rule, which is
// prepared in advance.
//
// An empty ruleset has no steps; [Report.Missing] tells whether that is
// acceptable. The order of the steps is that of the kernel's example in
// landlock.rst. Once landlock_restrict_self(2) is made, the child can open only
// what the rules grant, so whatever else it needs must be open before.
func (r Ruleset) Steps(slots *steps.Slots, ruleFD int32) []steps.Step {
	if r.Empty() {
		return nil
	}
	attr := r.Attr
	ruleset, opened := slots.New(), slots.New()
	create := step("landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", steps.Ptr(&attr), steps.Int(unsafe.Sizeof(attr)), steps.Int(0))
	create.Save = ruleset
	list := append(make([]steps.Step, 0, 4*len(r.Paths)+len(r.Ports)+3), create)
	for _, p := range r.Paths {
		list = append(list, p.steps(ruleset, opened, ruleFD)...)
	}
	if len(r.Paths) > 0 {
		list = append(list, step("close", unix.SYS_CLOSE, "", steps.Int(ruleFD)))
	}
	for _, p := range r.Ports {
		list = append(list, step("landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, "", steps.From(ruleset), steps.Int(ll.RuleTypeNetPort), steps.Ptr(p.Attr()), steps.Int(0)))
	}
	return append(list,
		step("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", steps.From(ruleset), steps.Int(r.Flags)),
		step("close", unix.SYS_CLOSE, "", steps.From(ruleset)))
}

// The rule keeps the inode, so the descriptors may be closed when it is added.
func (p PathRule) steps(ruleset, opened steps.Slot, ruleFD int32) []steps.Step {
	how := p.how()
	open := step("openat2", unix.SYS_OPENAT2, p.Path, steps.Int(unix.AT_FDCWD), steps.Str(p.Path), steps.Ptr(how), steps.Int(unix.SizeofOpenHow))
	open.Save = opened
	return []steps.Step{
		open,
		step("dup3", unix.SYS_DUP3, p.Path, steps.From(opened), steps.Int(ruleFD), steps.Int(unix.O_CLOEXEC)),
		step("close", unix.SYS_CLOSE, p.Path, steps.From(opened)),
		step("landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, p.Path, steps.From(ruleset), steps.Int(ll.RuleTypePathBeneath), steps.Ptr(p.Attr(ruleFD)), steps.Int(0)),
	}
}

func step(call string, nr uintptr, object string, args ...steps.Arg) steps.Step {
	s := steps.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}
