package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// landlockControl enforces the access table a second time, by another mechanism than
// mounts: landlock(7). A mistake in one of the two then opens nothing. A rule holds for an
// inode and what is below it, not for a name, so that renaming a directory changes nothing.
// Every process that the command starts inherits the rules, and can only add to them.
type landlockControl struct {
	*Job
	defaults
	rules  landlock.Ruleset
	report landlock.Report
	lack   error // why the kernel has no Landlock
}

func (c *landlockControl) Name() string { return "landlock" }

func (c *landlockControl) Requested() (string, bool) { return strings.Join(c.report.Asked, " "), true }

// Prepare asks the kernel for its ABI of Landlock, and makes the rules that this ABI knows. A
// kernel without Landlock is no error for a plan with mounts, which hold every path by
// themselves; for the backend landlock, which has nothing else, it is one.
func (c *landlockControl) Prepare(context.Context) error {
	kernel, err := landlock.Probe()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "a seccomp filter around this process may refuse landlock(7); allow landlock_create_ruleset, landlock_add_rule, landlock_restrict_self"}
	}
	if c.Flat && kernel.ABI < aloneABI {
		return plan.Refuse(plan.CodeUnsupported, "use Linux 6.2 or newer with landlock in its lsm= parameter, or --backend native if the machine has user namespaces", "the backend landlock needs ABI %d of Landlock, and this kernel has %s", aloneABI, haveABI(kernel.ABI))
	}
	c.lack = err
	c.build(kernel.ABI)
	return nil
}

// haveABI is the ABI in words; 0 is a kernel without Landlock.
func haveABI(abi int) string {
	if abi == 0 {
		return "none"
	}
	return "ABI " + strconv.Itoa(abi)
}

// build makes the rules for a kernel with the given ABI of Landlock.
func (c *landlockControl) build(abi int) {
	request := landlockRequest
	if c.Flat {
		request = func(p *plan.Plan, _ int) landlock.Request { return grantRequest(p, c.Scratch) }
	}
	c.rules, c.report = landlock.Build(abi, request(c.Job.Plan, abi))
	c.ByLandlock = landlock.FS(c.rules.Attr.HandledAccessFS)&landlock.ResolveUnix != 0
}

// Steps create the ruleset and apply it to the calling process: landlock_create_ruleset(2),
// landlock_add_rule(2), landlock_restrict_self(2). The rules use the same descriptors that
// were mounted, so no name is looked up twice. The streams must already be in place, because
// rules for them name descriptors 0 to 2. The process must have no_new_privs, which the
// kernel requires of a caller without CAP_SYS_ADMIN.
func (c *landlockControl) Steps(at Phase, p *Program) {
	if at != Access || c.rules.Empty() {
		return
	}
	const stage = "landlock"
	attr, ruleset := c.rules.Attr, p.Slots.New()
	var opened steps.Slot
	byName := c.Flat || c.Wrapped // nothing is open that was mounted
	if byName {
		opened = p.Slots.New()
	}
	create := step(stage, "landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", steps.Ptr(&attr), steps.Int(unsafe.Sizeof(attr)), steps.Int(0))
	create.Save = ruleset
	p.Command = append(p.Command, create)
	for _, rule := range c.rules.Paths {
		at := rule.Attr(-1)
		add := addRule(rule.Path, ruleset, at)
		add.Fill, add.FillFrom = &at.ParentFD, p.Trees[rule.Path]
		if byName {
			open, shut := c.openRule(rule, opened)
			add.FillFrom = opened
			p.Command = append(p.Command, open, add, shut)
			continue
		}
		p.Command = append(p.Command, add)
	}
	for _, rule := range c.rules.Ports {
		p.Command = append(p.Command, step(stage, "landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, "port "+strconv.Itoa(int(rule.Port)),
			steps.From(ruleset), steps.Int(landlock.NetPort), steps.Ptr(rule.Attr()), steps.Int(0)))
	}
	// Landlock checks open(2), not the descriptors that are already open. Without a rule of
	// their own, the streams could not be opened again through /proc/self/fd.
	for i, fd := range c.Streams {
		if rule := c.rules.OnFile(c.machine.opened(fd)); rule.Access != 0 {
			p.Command = append(p.Command, addRule("/dev/fd/"+strconv.Itoa(i), ruleset, rule.Attr(int32(i))))
		}
	}
	p.Command = append(p.Command, step(stage, "landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", steps.From(ruleset), steps.Int(c.rules.Flags)))
}

// openRule opens and closes the path of a rule without following links. A path that is
// missing, or that the command cannot reach, gets no rule, which only removes access.
func (c *landlockControl) openRule(rule landlock.PathRule, to steps.Slot) (open, shut steps.Step) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if !rule.File {
		how.Flags |= unix.O_DIRECTORY
	}
	if c.Wrapped { // the filter is in force and denies openat2(2); everything in the root is as it was verified
		open = step("landlock", "openat", unix.SYS_OPENAT, rule.Path, steps.Int(unix.AT_FDCWD), steps.Str(rule.Path), steps.Int(how.Flags))
	} else {
		open = step("landlock", "openat2", unix.SYS_OPENAT2, rule.Path, steps.Int(unix.AT_FDCWD), steps.Str(rule.Path), steps.Ptr(how), steps.Int(unix.SizeofOpenHow))
	}
	open.Save, open.Skip = to, 2
	open.Ignore = []syscall.Errno{syscall.ENOENT, syscall.EACCES, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO}
	return open, step("landlock", "close", unix.SYS_CLOSE, rule.Path, steps.From(to))
}

// Report says which rights of the kernel's ABI are in force, and which a newer one has.
func (c *landlockControl) Report(line record.Control) record.Control {
	if line.State == Enforced && c.rules.Empty() {
		line.State, line.Enforced, line.Reason = Absent, "", "not verified: nothing ran"
	}
	if c.lack != nil {
		line.State, line.Reason = Absent, c.lack.Error()
		return line
	}
	if c.Job.Plan.NestedUserns == capability.NestedMounts && c.Verified {
		line.State, line.Enforced = Degraded, strings.Join(c.report.Enforced, " ")
		line.Reason = "it protects no files, because it would refuse the mounts of --allow-nested-userns=mounts"
		return line
	}
	if line.State != Enforced {
		return line
	}
	line.Enforced = fmt.Sprintf("ABI %d: %s", c.report.ABI, strings.Join(c.report.Enforced, " "))
	if !c.report.Full() {
		line.State, line.Reason = Degraded, fmt.Sprintf("ABI %d does not know %s", c.report.ABI, strings.Join(c.report.Missing, " "))
	}
	return line
}

func (c *landlockControl) Hint() string {
	return "use a kernel with Landlock, CONFIG_SECURITY_LANDLOCK and landlock in its lsm= parameter, Linux 6.12 or newer for all of it"
}

// addRule adds a rule for what is below a descriptor: LANDLOCK_RULE_PATH_BENEATH.
func addRule(object string, ruleset steps.Slot, rule *landlock.PathAttr) steps.Step {
	return step("landlock", "landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, object, steps.From(ruleset), steps.Int(unix.LANDLOCK_RULE_PATH_BENEATH), steps.Ptr(rule), steps.Int(0))
}
