package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ethos/pkg/nospace"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/kernel/steps"
)

// cloneRefusal says why the namespaces could not be made. The errnos are those of clone(2) and user_namespaces(7).
func cloneRefusal(err error) error {
	var fault *steps.CloneError
	if !errors.As(err, &fault) {
		return &Refusal{Code: CodeSetup, Err: err}
	}
	hint := ""
	switch fault.Errno {
	case syscall.EPERM, syscall.EACCES:
		hint = restrictedHint("a seccomp filter around this process refuses namespaces, as the default one of container engines does; allow them (docker: --security-opt seccomp=unconfined)")
	case syscall.ENOSPC:
		hint = restrictedHint("raise user.max_user_namespaces and its like (sysctl user), or leave a nested user namespace")
	case syscall.EINVAL:
		hint = "the kernel lacks a namespace: CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_IPC_NS, CONFIG_UTS_NS and CONFIG_CGROUPS are needed"
	case syscall.EAGAIN:
		hint = "the limit of processes is reached: ulimit -u, or pids.max of the cgroup"
	case syscall.ENOMEM:
		hint = "there is not enough memory"
	}
	return &Refusal{Code: CodeSetup, Err: err, Hint: hint}
}

// nestedRefusal gives a refusal inside of another sandbox of ours, whose filter does not let a second one be made, the hint that helps.
func nestedRefusal(err error) error {
	refusal, ok := err.(*Refusal)
	if !ok || refusal.Code != CodeSetup {
		return err
	}
	if first, err := os.ReadFile("/proc/1/comm"); err != nil || strings.TrimSpace(string(first)) != steps.InitName {
		return refusal
	}
	return &Refusal{Code: refusal.Code, Err: refusal.Err, Hint: "this is the inside of an ethos-sandbox already, which holds all that is started here: run the command without another one"}
}

// fullRefusal gives a refusal for want of room the hint that names the file system. ENOSPC of clone(2) is about namespaces, and that of the mounts about the private directories,
// whose size is the memory limit.
func fullRefusal(err error, p *Plan) error {
	var refusal *Refusal
	var fault *steps.StepError
	var clone *steps.CloneError
	if !errors.As(err, &refusal) || errors.As(err, &clone) {
		return err
	}
	holds := filepath.Join(p.Workspace, ethosDir)
	if _, missing := os.Lstat(holds); missing != nil {
		holds = p.Workspace
	}
	if errors.As(err, &fault) {
		if fault.Step.Stage == "mount" && fault.Errno == syscall.ENOSPC {
			return &Refusal{Code: refusal.Code, Err: refusal.Err, Hint: "the private directories have no room, for they count as memory: give it more with --memory"}
		}
		if holds = p.Workspace; filepath.IsAbs(fault.Step.Object) {
			holds = filepath.Dir(fault.Step.Object)
		}
	}
	hint := nospace.Hint(err, holds)
	if hint == "" {
		return err
	}
	return &Refusal{Code: refusal.Code, Err: refusal.Err, Hint: hint}
}

// stepRefusal says which step failed, and what can be done about it.
func stepRefusal(err error) error {
	var fault *steps.StepError
	if !errors.As(err, &fault) {
		return &Refusal{Code: CodeSetup, Err: err}
	}
	if fault.Step.Stage == "exec" {
		return execRefusal(fault)
	}
	return &Refusal{Code: CodeSetup, Err: err, Hint: stepHint(fault)}
}

func execRefusal(fault *steps.StepError) error {
	name := fault.Step.Object
	switch fault.Errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP:
		return refuse(CodeNotFound, "it must be on PATH and visible inside: ethos-sandbox plan shows what is", "%s: %w", base(name), fault.Errno)
	case syscall.EACCES, syscall.EPERM:
		return refuse(CodeNotExec, "it must be an executable file on a declared path", "%s: %w", name, fault.Errno)
	case syscall.ENOEXEC:
		return refuse(CodeNotExec, "a script needs a first line that names its interpreter", "%s: %w", name, fault.Errno)
	}
	return refuse(CodeNotExec, "", "%s: %w", name, fault.Errno)
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// guardedHint is for a namespace that was made and in which nothing may be done.
const guardedHint = "a security module or the container around this process refuses mounts in user namespaces; ethos-sandbox probe shows what this machine can enforce"

func stepHint(fault *steps.StepError) string {
	switch {
	case fault.Step.Stage == "user_namespace" && (fault.Errno == syscall.EPERM || fault.Errno == syscall.EACCES):
		return restrictedHint(guardedHint)
	case fault.Step.Stage == "mount" && (fault.Errno == syscall.EPERM || fault.Errno == syscall.EACCES):
		if fault.Step.Object == "/proc" {
			return coveredHint
		}
		return restrictedHint(guardedHint)
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

// lacksRequired is the refusal of a control that was asked for by name.
func lacksRequired(c record.Control, r *resources) *Refusal {
	why := ""
	if c.Reason != "" {
		why = ": " + c.Reason
	}
	return refuse(CodeRequire, requireHint(c, r), "required control %s is %s%s", c.Name, c.State, why)
}

// wayTo says how a control can be had that a run did not ask for, or that the machine does not give in full.
var wayTo = map[string]string{
	ControlMount:    coveredHint,
	ControlNetwork:  "use --net none or --net loopback",
	ControlTimeout:  "give it a limit with --timeout",
	ControlOutput:   "let it be a record in the pipe: only there ethos-sandbox reads the command's output",
	ControlCaches:   "it is in full force where a package cache exists and the work space can keep what is added to it",
	ControlLandlock: "use a kernel with Landlock, CONFIG_SECURITY_LANDLOCK and landlock in its lsm= parameter, Linux 6.12 or newer for all of it",
	ControlSockets: "give it a network of its own (--net none or loopback), where pidfd_getfd(2) is allowed (kernel.yama.ptrace_scope below 3) and no container engine " +
		"has a seccomp listener of its own; or use a kernel with ABI 9 of Landlock",
	ControlRlimits: "an ordinary user can be held by resource limits alone; for root have a cgroup delegated",
}

func requireHint(c record.Control, r *resources) string {
	var lacking *cgroup.Unavailable
	if c.Name == ControlCgroup && r != nil && errors.As(r.lack, &lacking) && lacking.Hint != "" {
		return lacking.Hint
	}
	if hint := wayTo[c.Name]; hint != "" {
		return hint
	}
	return "ethos-sandbox probe shows what this machine can enforce"
}

// restrictedHint tells a setting of the machine from other causes. With Ubuntu's AppArmor restriction the namespace is made, but comes without capabilities.
func restrictedHint(otherwise string) string {
	if setting, hint := Restricted(os.ReadFile); setting != "" {
		return setting + ": " + hint
	}
	return otherwise
}
