package explain

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/seccomp"
)

// refusedCall is a system call that the filter refuses, and the words by which
// messages mention it.
type refusedCall struct {
	name     string
	root     bool     // needs privileges outside, too
	words    []string // in a line that reports a refusal, in lower case
	programs []string // programs whose purpose is this call
}

// refusedCalls lists the calls of the deny list that programs report when they
// are refused. The first entry whose words are in a line counts.
var refusedCalls = []refusedCall{
	{"ptrace", false, []string{"ptrace", "could not trace", "strace:"}, []string{"strace", "ltrace", "gdb", "lldb", "rr"}},
	{"unshare", false, []string{"unshare", "new namespace", "clone_new", "user namespace"}, []string{"unshare", "bwrap", "newuidmap"}},
	{"io_uring_setup", false, []string{"io_uring"}, nil},
	{"userfaultfd", false, []string{"userfaultfd"}, nil},
	{"keyctl", false, []string{"keyctl", "add_key", "keyring"}, []string{"keyctl"}},
	{"umount2", true, []string{"umount:", "unmount"}, []string{"umount"}},
	{"mount", true, []string{"mount:", "mount(", "mounting"}, []string{"mount"}},
	{"chroot", true, []string{"chroot", "root directory"}, []string{"chroot"}},
	{"bpf", true, []string{"bpf"}, []string{"bpftool", "bpftrace"}},
	{"perf_event_open", true, []string{"perf_event", "perf events", "task-clock", "performance monitoring"}, []string{"perf"}},
	{"syslog", true, []string{"kernel buffer", "klogctl"}, []string{"dmesg"}},
	{"sethostname", true, []string{"host name", "sethostname"}, nil},
	{"clock_settime", true, []string{"set date", "settimeofday", "clock_settime"}, nil},
	{"reboot", true, []string{"reboot"}, []string{"reboot"}},
	{"init_module", true, []string{"insert module", "insert '", "init_module"}, []string{"insmod", "modprobe"}},
	{"mknodat", true, []string{"mknod"}, []string{"mknod"}},
	{"swapon", true, []string{"swapon", "swapoff"}, []string{"swapon", "swapoff"}},
}

// notPermitted lists the phrases that report a refused call.
var notPermitted = []string{"not permitted", "permission denied", "eperm", "no permission", "superuser", "must be root", "not implemented", "enosys", "could not trace"}

// calls returns the system calls that messages report as refused and that the
// filter does refuse. If the output is unknown, it returns the calls that the
// program is known for.
func (x *Explainer) calls(f Failed) (list []record.Denial) {
	add := func(c refusedCall, process string) {
		d := record.Denial{
			Layer: "seccomp", What: c.name, Kind: record.KindCall, Certainty: record.Inferred, Process: shown(process), Call: c.name,
			Reason: "the call is refused, and no declaration allows it: it " + whyRefused(c.name),
		}
		if c.name == "ptrace" && !x.plan.Debug { // kernel/seccomp, DenyPrivilegeBut
			d.Reason, d.Remedy = "the call is refused: it "+whyRefused(c.name), "--debug"
		}
		if flag := x.nesting(c.name, process); flag != "" {
			d.Reason, d.Remedy = "the call is refused: it "+whyRefused(c.name), flag
		}
		known := func(o record.Denial) bool { return o.What == c.name }
		if (!c.root || x.uid == 0) && len(list) < maxInferred && !slices.ContainsFunc(list, known) {
			list = append(list, d)
		}
	}
	lines := strings.Split(f.Output, "\n")
	for _, line := range lines[max(len(lines)-maxLines, 0):] {
		lower := strings.ToLower(plainText(line[:min(len(line), maxLine)]))
		has := func(phrase string) bool { return strings.Contains(lower, phrase) }
		if !slices.ContainsFunc(notPermitted, has) {
			continue
		}
		if i := slices.IndexFunc(refusedCalls, func(c refusedCall) bool { return slices.ContainsFunc(c.words, has) }); i >= 0 {
			add(refusedCalls[i], speaker(line))
		}
	}
	if f.Read || f.Output != "" {
		return list
	}
	program := filepath.Base(first(f.Argv))
	for _, c := range refusedCalls {
		if slices.Contains(c.programs, program) {
			add(c, program)
		}
	}
	return list
}

// nesting returns the flag that allows a call which creates namespaces, or ""
// if there is none.
func (x *Explainer) nesting(call, process string) string {
	const flag = "--allow-nested-userns"
	has, mounts := x.plan.NestedUserns, process == "bwrap" || process == "podman"
	switch {
	case call != "unshare" || x.uid == 0 || has == capability.NestedMounts:
		return ""
	case mounts: // if a mount is refused, the refusal names a view
		return flag + "=" + capability.NestedMounts
	case has != "":
		return ""
	}
	return flag
}

// whyRefused returns the reason for the filter's own rule.
func whyRefused(call string) string {
	for _, rule := range seccomp.DenyPrivilege().Rules {
		if slices.Contains(rule.Calls, call) {
			return rule.Why
		}
	}
	return ""
}
