package seccomp

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// ociProfile is LinuxSeccomp of the OCI runtime specification:
// opencontainers/runtime-spec, config-linux.md, "Seccomp". Pointers tell a
// field that is missing from one that is 0.
type ociProfile struct {
	DefaultAction   string       `json:"defaultAction"`
	DefaultErrnoRet *uint        `json:"defaultErrnoRet"`
	Architectures   []string     `json:"architectures"`
	Flags           []string     `json:"flags"`
	Syscalls        []ociSyscall `json:"syscalls"`
}

type ociSyscall struct {
	Names    []string `json:"names"`
	Action   string   `json:"action"`
	ErrnoRet *uint    `json:"errnoRet"`
	Args     []ociArg `json:"args"`
}

type ociArg struct {
	Index    *uint   `json:"index"`
	Value    *uint64 `json:"value"`
	ValueTwo uint64  `json:"valueTwo"`
	Op       string  `json:"op"`
}

// ParseOCI parses a profile file: the JSON object under linux.seccomp of an OCI
// configuration. name is used in messages. If a profile asks for anything that
// this package does not do exactly, the error names it: an unknown or repeated
// field, system call, action, operator, flag or architecture, an argument index
// outside 0 to 5, or a listener. Docker's own extensions (archMap, includes,
// excludes, comment) are such unknown fields.
//
// Differences from container engines, each of them more restrictive:
//   - calls of other architectures are killed even if "architectures" lists
//     them; the native one must be listed if the list is not empty;
//   - names of calls that exist only on other architectures are ignored; a name
//     that no architecture has is an error;
//   - if rules with different actions match one call, the strictest wins; in
//     libseccomp an unconditional rule wins;
//   - an argument is compared in the width that the kernel reads.
//
// As in runc, conditions of one rule on the same argument are alternatives;
// they need not all be true.
func ParseOCI(name string, text []byte, a *Arch) (Profile, error) {
	fail := func(err error) (Profile, error) { return Profile{}, fmt.Errorf("seccomp profile %q: %w", name, err) }
	var oci ociProfile
	if err := decodeStrict(text, &oci); err != nil {
		return fail(err)
	}
	p := Profile{Name: name}
	var err error
	if p.Default, err = ociAction(oci.DefaultAction, oci.DefaultErrnoRet); err != nil {
		return fail(fmt.Errorf("defaultAction: %w", err))
	}
	if err := checkArchitectures(oci.Architectures, a); err != nil {
		return fail(err)
	}
	if p.Flags, err = ociFlags(oci.Flags); err != nil {
		return fail(err)
	}
	for i, entry := range oci.Syscalls {
		rules, err := entry.rules()
		if err != nil {
			return fail(fmt.Errorf("syscalls[%d]: %w", i, err))
		}
		p.Rules = append(p.Rules, rules...)
	}
	if _, err := p.Compile(a); err != nil { // checks the names and values
		return Profile{}, err
	}
	return p, nil
}

// rules returns the entry as rules. With a repeated index, each condition
// becomes a rule of its own with the same action, so that one of them is
// enough.
func (s ociSyscall) rules() ([]Rule, error) {
	if len(s.Names) == 0 {
		return nil, errors.New("names is empty")
	}
	action, err := ociAction(s.Action, s.ErrnoRet)
	if err != nil {
		return nil, fmt.Errorf("action: %w", err)
	}
	var conds []Cond
	repeated, seen := false, [6]bool{}
	for i, arg := range s.Args {
		cond, err := arg.cond()
		if err != nil {
			return nil, fmt.Errorf("args[%d]: %w", i, err)
		}
		repeated = repeated || seen[cond.Arg]
		seen[cond.Arg] = true
		conds = append(conds, cond)
	}
	if !repeated {
		return []Rule{{Calls: s.Names, Action: action, When: conds}}, nil
	}
	rules := make([]Rule, len(conds))
	for i, cond := range conds {
		rules[i] = Rule{Calls: s.Names, Action: action, When: []Cond{cond}}
	}
	return rules, nil
}

func (a ociArg) cond() (Cond, error) {
	switch {
	case a.Index == nil:
		return Cond{}, errors.New("index is missing")
	case *a.Index > 5:
		return Cond{}, fmt.Errorf("index %d is not 0 to 5", *a.Index)
	case a.Value == nil:
		return Cond{}, errors.New("value is missing")
	case a.ValueTwo != 0 && a.Op != "SCMP_CMP_MASKED_EQ":
		return Cond{}, fmt.Errorf("valueTwo has no meaning for op %q", a.Op)
	}
	c := Cond{Arg: int(*a.Index), Value: *a.Value}
	switch a.Op {
	case "SCMP_CMP_EQ":
		c.Op = Equal
	case "SCMP_CMP_NE":
		c.Op = NotEqual
	case "SCMP_CMP_LT":
		c.Op = Less
	case "SCMP_CMP_LE":
		c.Op = LessEqual
	case "SCMP_CMP_GE":
		c.Op = GreaterEqual
	case "SCMP_CMP_GT":
		c.Op = Greater
	case "SCMP_CMP_MASKED_EQ":
		c.Op, c.Mask, c.Value = MaskedEqual, *a.Value, a.ValueTwo
	default:
		return c, fmt.Errorf("unknown op %q", a.Op)
	}
	return c, nil
}

// SCMP_ACT_KILL is KillThread, as in libseccomp. The errno of SCMP_ACT_TRACE is
// what the tracer reads with PTRACE_GETEVENTMSG.
func ociAction(name string, errnoRet *uint) (Action, error) {
	if errnoRet != nil && (*errnoRet == 0 || *errnoRet > maxErrno) {
		return 0, fmt.Errorf("errno %d is not 1 to %d", *errnoRet, maxErrno)
	}
	number := uint(ePERM) // the default of the specification
	if errnoRet != nil {
		number = *errnoRet
	}
	switch name {
	case "SCMP_ACT_ERRNO":
		return Errno(syscall.Errno(number)), nil
	case "SCMP_ACT_TRACE":
		return Trace | Action(number), nil
	}
	if errnoRet != nil {
		return 0, fmt.Errorf("%q takes no errno", name)
	}
	switch name {
	case "SCMP_ACT_KILL", "SCMP_ACT_KILL_THREAD":
		return KillThread, nil
	case "SCMP_ACT_KILL_PROCESS":
		return KillProcess, nil
	case "SCMP_ACT_TRAP":
		return Trap, nil
	case "SCMP_ACT_LOG":
		return Log, nil
	case "SCMP_ACT_ALLOW":
		return Allow, nil
	case "SCMP_ACT_NOTIFY":
		return 0, fmt.Errorf("%q needs a listener, which does not exist here", name)
	case "":
		return 0, errors.New("it is missing")
	}
	return 0, fmt.Errorf("unknown action %q", name)
}

// ociArches are the names the specification knows.
const ociArches = " SCMP_ARCH_X86 SCMP_ARCH_X86_64 SCMP_ARCH_X32 SCMP_ARCH_ARM SCMP_ARCH_AARCH64 SCMP_ARCH_MIPS SCMP_ARCH_MIPS64" +
	" SCMP_ARCH_MIPS64N32 SCMP_ARCH_MIPSEL SCMP_ARCH_MIPSEL64 SCMP_ARCH_MIPSEL64N32 SCMP_ARCH_PPC SCMP_ARCH_PPC64 SCMP_ARCH_PPC64LE" +
	" SCMP_ARCH_S390 SCMP_ARCH_S390X SCMP_ARCH_PARISC SCMP_ARCH_PARISC64 SCMP_ARCH_RISCV64 SCMP_ARCH_LOONGARCH64 SCMP_ARCH_M68K SCMP_ARCH_SH SCMP_ARCH_SHEB "

// An empty list is a profile for the architecture on which it is used, as in
// libseccomp.
func checkArchitectures(names []string, a *Arch) error {
	native := len(names) == 0
	for _, name := range names {
		if name == "" || !strings.Contains(ociArches, " "+name+" ") {
			return fmt.Errorf("unknown architecture %q", name)
		}
		native = native || name == a.oci
	}
	if !native {
		return fmt.Errorf("architectures does not list %s, which this machine is", a.oci)
	}
	return nil
}

func ociFlags(names []string) (flags uint32, err error) {
	for _, name := range names {
		switch name {
		case "SECCOMP_FILTER_FLAG_TSYNC":
			flags |= FlagTSync
		case "SECCOMP_FILTER_FLAG_LOG":
			flags |= FlagLog
		case "SECCOMP_FILTER_FLAG_SPEC_ALLOW":
			flags |= FlagSpecAllow
		default:
			return 0, fmt.Errorf("unknown flag %q", name)
		}
	}
	return flags, nil
}
