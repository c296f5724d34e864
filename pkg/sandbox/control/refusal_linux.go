package control

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/nospace"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
)

// bwrapRefusedHint is for a bubblewrap that did not make what it was asked for.
const bwrapRefusedHint = "ethos-sandbox probe shows which backend works on this machine; where only root may make namespaces, bubblewrap must be installed with the set-user-ID bit"

// CloneRefusal returns the refusal for namespaces that could not be created. The errnos are
// those of clone(2) and user_namespaces(7).
func CloneRefusal(err error) error {
	var fault *steps.CloneError
	if launch := (*steps.LaunchError)(nil); errors.As(err, &launch) {
		return StepRefusal(err, nil)
	}
	if unmapped := (*steps.StepError)(nil); errors.As(err, &unmapped) {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "run it as the owner of the work space: a security module or a seccomp filter around this process keeps root from mapping another user"}
	}
	if !errors.As(err, &fault) {
		refusal := &plan.Refusal{Code: plan.CodeSetup, Err: err}
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) { // the kernel itself denies nobody a socket pair
			refusal.Hint = plan.OtherSandboxHint
		}
		return refusal
	}
	hint := ""
	if setting, _ := plan.Restricted(os.ReadFile); strings.HasSuffix(setting, "=0") {
		err = fmt.Errorf("user namespaces are switched off (%s): %w", setting, err)
	}
	switch fault.Errno {
	case syscall.EPERM, syscall.EACCES:
		hint = restrictedHint("a seccomp filter around this process refuses namespaces, as the default one of container engines does; allow them (docker: --security-opt seccomp=unconfined)")
	case syscall.ENOSPC:
		hint = restrictedHint("raise user.max_user_namespaces and related limits (sysctl user), or run it outside of the nested user namespace")
	case syscall.EINVAL:
		hint = "the kernel lacks a namespace: CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_IPC_NS, CONFIG_UTS_NS and CONFIG_CGROUPS are needed"
	case syscall.EAGAIN:
		hint = "the limit of processes is reached: ulimit -u, or pids.max of the cgroup"
	case syscall.ENOMEM:
		hint = "there is not enough memory"
	}
	return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: hint}
}

// NestedRefusal replaces the hint of a refusal inside another sandbox of ethos, whose
// filter does not allow a second one.
func NestedRefusal(err error) error {
	refusal, ok := err.(*plan.Refusal)
	if !ok || refusal.Code != plan.CodeSetup {
		return err
	}
	if first, err := os.ReadFile("/proc/1/comm"); err != nil || strings.TrimSpace(string(first)) != steps.InitName {
		return refusal
	}
	return &plan.Refusal{Code: refusal.Code, Err: refusal.Err, Hint: "this already runs inside ethos-sandbox, which confines everything started here: run the command without a second one"}
}

// CausedRefusal replaces the hint of a refusal by that of its cause, whichever step met it.
// It handles the state folder and a lack of space, for which the hint names the file
// system. ENOSPC of clone(2) concerns namespaces; that of a mount, or of the copies of
// git's settings, concerns the private directories, whose size is limited by the memory
// limit.
func CausedRefusal(err error, p *plan.Plan) error {
	var refusal *plan.Refusal
	var fault *steps.StepError
	var clone *steps.CloneError
	if !errors.As(err, &refusal) || errors.As(err, &clone) {
		return err
	}
	if hint := statedir.Hint(err); hint != "" {
		return &plan.Refusal{Code: refusal.Code, Err: refusal.Err, Hint: hint}
	}
	holds := filepath.Join(p.Workspace, plan.EthosDir)
	if _, missing := os.Lstat(holds); missing != nil {
		holds = p.Workspace
	}
	if errors.As(err, &fault) {
		if fault.Errno == syscall.ENOSPC && (fault.Step.Stage == "mount" || mount.Within(fault.Step.Object, plan.SettingsDir)) {
			return &plan.Refusal{Code: refusal.Code, Err: refusal.Err, Hint: "the private directories are full, and they count as memory: allow more with --memory"}
		}
		if holds = p.Workspace; filepath.IsAbs(fault.Step.Object) {
			holds = filepath.Dir(fault.Step.Object)
		}
	}
	hint := nospace.Hint(err, holds)
	if hint == "" {
		return err
	}
	return &plan.Refusal{Code: refusal.Code, Err: refusal.Err, Hint: hint}
}

// StepRefusal returns the refusal for a failed step, with a hint. argv is the command as it
// was given.
func StepRefusal(err error, argv []string) error {
	var fault *steps.StepError
	var launch *steps.LaunchError
	if errors.As(err, &launch) {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: bwrapRefusedHint}
	}
	if !errors.As(err, &fault) {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err}
	}
	if fault.Step.Stage == "exec" {
		return execRefusal(fault, argv[0])
	}
	return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: stepHint(fault)}
}

// execRefusal returns the refusal for a failed execve(2). A command that was not found is
// named as it was given, because a search of PATH has no single path. Other failures are
// named by the path that was executed.
func execRefusal(fault *steps.StepError, name string) error {
	path := fault.Step.Object
	name = cmp.Or(name, `""`)
	switch fault.Errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP:
		hint := "it must be on PATH and visible inside: ethos-sandbox plan -- COMMAND shows what is"
		if strings.Contains(name, "/") {
			hint = "the file, and the interpreter that the first line of a script names, must exist and be visible inside: ethos-sandbox plan -- COMMAND shows what is"
		}
		return plan.Refuse(plan.CodeNotFound, hint, "%s: %w", name, fault.Errno)
	case syscall.EACCES, syscall.EPERM:
		return plan.Refuse(plan.CodeNotExec, "it must be an executable file on a declared path", "%s: %w", path, fault.Errno)
	case syscall.ENOEXEC:
		return plan.Refuse(plan.CodeNotExec, "a script needs a first line that names its interpreter", "%s: %w", path, fault.Errno)
	}
	return plan.Refuse(plan.CodeNotExec, "", "%s: %w", path, fault.Errno)
}

// refusedHint is for a namespace that was created, but in which the kernel denies
// operations.
const refusedHint = "a security module or the container around this process refuses mounts in user namespaces; ethos-sandbox probe shows what this machine can enforce"

// coveredHint is the hint if a container engine has covered parts of /proc.
const coveredHint = "let the container have a full /proc (docker and podman: --security-opt systempaths=unconfined; kubernetes: procMount: Unmasked)"

func stepHint(fault *steps.StepError) string {
	if fault.Errno == syscall.EACCES || fault.Errno == syscall.EPERM && fault.Step.Stage != "mount" && fault.Step.Stage != "user_namespace" {
		if hint := foreignHint(fault.Step.Object, os.Geteuid()); hint != "" {
			return hint
		}
	}
	if hint := viewStepHint(fault); hint != "" {
		return hint
	}
	if hint := weakRootHint(fault, os.Geteuid(), effective()); hint != "" {
		return hint
	}
	switch {
	case fault.Step.Stage == "user_namespace" && (fault.Errno == syscall.EPERM || fault.Errno == syscall.EACCES):
		return restrictedHint(refusedHint)
	case fault.Step.Stage == "mount" && (fault.Errno == syscall.EPERM || fault.Errno == syscall.EACCES):
		if fault.Step.Object == "/proc" {
			return coveredHint
		}
		return restrictedHint(refusedHint)
	case fault.Errno == syscall.ENOSYS:
		return fmt.Sprintf("the kernel is too old for %s, Linux 5.13 or newer is needed; or a seccomp filter around this process hides it", fault.Step.Call)
	case fault.Errno == syscall.EPERM || fault.Errno == syscall.EACCES:
		return fmt.Sprintf("a seccomp filter or a security module around this process refuses %s; allow it there", fault.Step.Call)
	case fault.Errno == syscall.ENOENT && fault.Step.Stage == "mount":
		return "the path went away while the sandbox was made; try again"
	case fault.Errno == syscall.ELOOP:
		return "a symbolic link was put in place of a directory while the sandbox was made"
	}
	return "ethos-sandbox probe shows what this machine can enforce"
}

// weakRootHint is the hint if root lacks a capability that it needs, as in a container that
// was started without them; "" for other faults. To map root into a user namespace takes
// CAP_SETFCAP outside of it since Linux 5.12 (user_namespaces(7)), and to change the
// bounding set takes CAP_SETPCAP.
func weakRootHint(fault *steps.StepError, uid int, has uint64) string {
	denied := uid == 0 && fault.Errno == syscall.EPERM
	switch {
	case denied && fault.Step.Stage == "user_namespace" && has&(1<<unix.CAP_SETFCAP) == 0:
		return "root lacks CAP_SETFCAP, without which it cannot map itself into a user namespace: run it as an ordinary user, or let the container have the capability (docker and podman: --user 1000, or --cap-add=SETFCAP)" + withoutNamespaces()
	case denied && fault.Step.Object == "PR_CAPBSET_DROP" && has&(1<<unix.CAP_SETPCAP) == 0:
		return "root lacks CAP_SETPCAP, without which it cannot give up its other capabilities for good: run it as an ordinary user, or let the container have none, or that one as well (docker and podman: --user 1000, --cap-drop=all, or --cap-add=SETPCAP)"
	}
	return ""
}

// effective returns the effective capabilities of this thread: capget(2).
func effective() uint64 {
	var sets [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0]); err != nil {
		return 0
	}
	return uint64(sets[1].Effective)<<32 | uint64(sets[0].Effective)
}

// restrictedHint distinguishes a machine setting from other causes. With Ubuntu's AppArmor
// restriction, the namespace is created but has no capabilities.
func restrictedHint(otherwise string) string {
	if setting, hint := plan.Restricted(os.ReadFile); setting != "" {
		otherwise = setting + ": " + hint
	}
	return otherwise + withoutNamespaces()
}
