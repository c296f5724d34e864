package control

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Narrowing is a [Narrow] in the form of kernel objects.
type Narrowing struct {
	rules  landlock.Ruleset
	filter seccomp.Program
}

// truncateABI is the first Landlock ABI that controls truncate(2) and O_TRUNC.
const truncateABI = 3

// Narrowed makes the rules for a narrowed command, or returns nil if nothing is narrowed.
// The error is a [*plan.Refusal] if the rules cannot express the narrowing.
func Narrowed(p *plan.Plan, n Narrow) (*Narrowing, error) {
	if n.None() {
		return nil, nil
	}
	kernel, err := landlock.Probe()
	if err != nil && len(n.DenyWrite)+len(n.DenyRead) > 0 || len(n.DenyWrite) > 0 && kernel.ABI < truncateABI {
		return nil, plan.Refuse(plan.CodeUnsupported, "run it without --session: a separate boundary enforces this with mounts", "in a session, --deny-write needs Landlock ABI %d (Linux 6.2), and --deny-read needs any ABI", truncateABI)
	}
	q := landlock.Request{}
	if n.NoNetwork {
		q.Net, q.Scope = landlock.BindTCP|landlock.ConnectTCP, landlock.AbstractUnix
	}
	if len(n.DenyWrite)+len(n.DenyRead) > 0 {
		q.FS = landlock.AllFS &^ landlock.ResolveUnix
		if q.Paths, err = narrower(p, landlockRequest(p, kernel.ABI).Paths, n); err != nil {
			return nil, err
		}
	}
	arch, err := seccomp.Native()
	if err != nil {
		return nil, err
	}
	rules, _ := landlock.Build(kernel.ABI, q)
	program, err := seccomp.Narrowing(n.NoNetwork, len(n.DenyWrite) > 0).Compile(arch)
	return &Narrowing{rules, program}, err
}

// changes are the rights that change files.
const changes = landlock.Write | landlock.MakeChar | landlock.MakeBlock

// denial is a set of rights that is removed at and below paths.
type denial struct {
	flag   string
	paths  []string
	rights landlock.FS
	stays  string
	// held reports whether an access in the session's table includes none of the rights,
	// because the session's mounts deny them already.
	held func(plan.Access) bool
}

// narrower removes rights from the rules of a session at and below the denied paths. A
// Landlock rule applies to everything below its path, so a denied path must not lie in a
// tree that keeps the rights, unless the session does not have them there either.
func narrower(p *plan.Plan, rules []landlock.PathRule, n Narrow) ([]landlock.PathRule, error) {
	rules = slices.Clone(rules)
	list := []denial{
		{"--deny-write", n.DenyWrite, changes, "writable", func(a plan.Access) bool { return a == plan.ReadOnly || a == plan.Hidden }},
		{"--deny-read", n.DenyRead, landlock.AllFS, "readable", func(a plan.Access) bool { return a == plan.Hidden }},
	}
	reals := make([][]string, len(list))
	for i, d := range list {
		for _, path := range d.paths {
			real, err := filepath.EvalSymlinks(path) // the rules' paths contain no links
			if err != nil {
				return nil, plan.Refuse(plan.CodeDeclaration, "name an existing path", "%s: %w", d.flag, err)
			}
			if mount.Within("/dev", real) || mount.Within("/proc", real) {
				return nil, plan.Refuse(plan.CodeDeclaration, "name the directories that hold files", "%s %s contains /dev or /proc", d.flag, path)
			}
			reals[i] = append(reals[i], real)
			for k := range rules {
				if r := &rules[k]; mount.Within(r.Path, real) || r.Path == plan.SettingsDir && settingsIn(p, real) {
					r.Access &^= d.rights
				}
			}
		}
	}
	for i, d := range list {
		for k, real := range reals[i] {
			if p != nil && d.held(plan.Covering(p.Paths, real).Access) {
				continue
			}
			for _, r := range rules {
				if r.Path != "/" && r.Access&d.rights != 0 && mount.Within(real, r.Path) {
					return nil, plan.Refuse(plan.CodeDeclaration, "deny all of "+r.Path+", run it without --session, or give it --net none as well: it then gets a boundary of its own",
						"%s %s lies in %s, which stays %s: a session cannot enforce this", d.flag, d.paths[k], r.Path, d.stays)
				}
			}
		}
	}
	return outermost(slices.DeleteFunc(rules, func(r landlock.PathRule) bool { return r.Access == 0 })), nil
}

// settingsIn reports whether a directory contains a git configuration file. Settings that
// the command makes in its copy would be applied to the file: see [gitSettings].
func settingsIn(p *plan.Plan, dir string) bool {
	return p != nil && slices.ContainsFunc(p.GitSettings, func(g plan.GitSettings) bool { return mount.Within(g.Path, dir) })
}

// outermost returns the rules that add rights to those of the directories above them. The
// paths of the others may lie where the command's session can write.
func outermost(rules []landlock.PathRule) (list []landlock.PathRule) {
	for i, r := range rules {
		if !slices.ContainsFunc(rules[:i], func(above landlock.PathRule) bool {
			return !above.File && above.Path != r.Path && mount.Within(r.Path, above.Path) && r.Access&^above.Access == 0
		}) {
			list = append(list, r)
		}
	}
	return list
}

// ruleFD is a descriptor number that a command does not use. The path of each rule is
// duplicated to it, because the number is part of the rule, which is prepared in advance.
const ruleFD = 200

// steps apply the narrowing to the command that runs them.
func (n *Narrowing) steps(i *steps.Image) {
	const stage = "landlock"
	if !n.rules.Empty() {
		attr, ruleset, opened := n.rules.Attr, i.Slots.New(), i.Slots.New()
		create := step(stage, "landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, "", steps.Value(i, attr), steps.Int(unsafe.Sizeof(attr)), steps.Int(0))
		create.Save = ruleset
		i.Add(create)
		for _, r := range n.rules.Paths {
			flags := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
			if !r.File {
				flags |= unix.O_DIRECTORY
			}
			open := step(stage, "openat", unix.SYS_OPENAT, r.Path, steps.Int(unix.AT_FDCWD), i.Str(r.Path), steps.Int(flags), steps.Int(0))
			open.Save, open.Skip = opened, 3
			open.Ignore = []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP} // without a rule there is no access
			rule := *r.Attr(ruleFD)
			i.Add(open,
				step(stage, "dup3", unix.SYS_DUP3, r.Path, steps.From(opened), steps.Int(ruleFD), steps.Int(unix.O_CLOEXEC)),
				step(stage, "close", unix.SYS_CLOSE, r.Path, steps.From(opened)),
				step(stage, "landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, r.Path, steps.From(ruleset), steps.Int(unix.LANDLOCK_RULE_PATH_BENEATH), steps.Value(i, rule), steps.Int(0)))
		}
		i.Add(step(stage, "landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, "", steps.From(ruleset), steps.Int(n.rules.Flags)))
	}
	i.Add(step("seccomp", "seccomp", unix.SYS_SECCOMP, "narrowing", steps.Int(seccomp.SetModeFilter), steps.Int(0), i.Filter(n.filter.Fprog())))
}

// filters returns how many system call filters a narrowing consists of.
func (n *Narrowing) filters() int {
	if n == nil {
		return 0
	}
	return 1
}

// VerifyFilters compares a waiting command with the process that cloned it: the command has
// the filters that it loads itself in addition. The kernel does not show Landlock domains,
// but the calls of a narrowing have succeeded, because the command is waiting.
func VerifyFilters(j *Job, n *Narrowing, command Status, spawner func() (Status, error)) error {
	more := len(j.CommandFilters) + n.filters()
	if more == 0 {
		return nil
	}
	above, err := spawner()
	if err != nil {
		return err
	}
	const field = "Seccomp_filters"
	mine, err := strconv.Atoi(command.field(field))
	theirs, err2 := strconv.Atoi(above.field(field))
	if err != nil || err2 != nil || mine != theirs+more {
		return fmt.Errorf("status field %s is %q, not %d more than %q", field, command.field(field), more, above.field(field))
	}
	return nil
}

// checkNetworkless refuses a descriptor that gives network access: a socket of a family
// other than Unix.
func checkNetworkless(fd int) error {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err == nil && family != unix.AF_UNIX {
		return plan.Refuse(plan.CodeDeclaration, "pass it something other than a network socket", "a standard descriptor of the command is a network socket, but the command must have no network")
	}
	return nil
}
