package seccomp

// Profile is a list of rules about system calls, and the action for calls that
// no rule matches. The zero Default is KillThread.
type Profile struct {
	Name    string
	Default Action
	Rules   []Rule
	// Flags for seccomp(2), SECCOMP_FILTER_FLAG_*; see [FlagLog].
	Flags uint32
}

// Flags of a filter. Source: linux/seccomp.h. The kernel answers EINVAL to one
// that it does not know. FlagTSync fails with the number of a thread whose
// filters are not among the caller's, and is refused together with
// FlagNewListener (EINVAL), because both use the result.
const (
	FlagTSync     uint32 = 1 << 0 // SECCOMP_FILTER_FLAG_TSYNC: every thread of the process
	FlagLog       uint32 = 1 << 1 // SECCOMP_FILTER_FLAG_LOG: log every action but ALLOW, as far as actions_logged allows (Linux 4.14)
	FlagSpecAllow uint32 = 1 << 2 // SECCOMP_FILTER_FLAG_SPEC_ALLOW: leave the speculative store bypass mitigation off (Linux 4.17)
	// FlagNewListener is SECCOMP_FILTER_FLAG_NEW_LISTENER: seccomp(2)
	// returns the descriptor of the listener that answers [Notify] (Linux
	// 5.0).
	FlagNewListener uint32 = 1 << 3
	// FlagWaitKillable is SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: once a
	// call has been received, only fatal signals interrupt its wait for the
	// answer (Linux 5.19).
	FlagWaitKillable uint32 = 1 << 5
)

// Rule answers Calls with Action if all conditions of When are true, or always
// if there are none.
type Rule struct {
	Calls  []string // names; those that exist only on other architectures are ignored
	Action Action
	When   []Cond
	Why    string // for people, in plans
}

// Cond is a condition on one argument of a call. Value and Mask hold the
// argument as the register does, so a negative int may be sign-extended.
type Cond struct {
	Arg   int // 0 to 5
	Op    Op
	Value uint64
	Mask  uint64 // of MaskedEqual
}

// Op compares an argument with a value. Comparisons are unsigned, in the width
// in which the kernel reads the argument.
type Op uint8

// The comparisons.
const (
	Equal        Op = iota // arg == Value
	NotEqual               // arg != Value
	Less                   // arg < Value
	LessEqual              // arg <= Value
	GreaterEqual           // arg >= Value
	Greater                // arg > Value
	MaskedEqual            // arg & Mask == Value
	AnyBit                 // arg & Value != 0
)
