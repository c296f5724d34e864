package control

import (
	"fmt"
	"math/bits"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// privileges leave the command without capabilities in any set and without a way to gain
// one, and leave init only those that it needs: capabilities(7). If root works in somebody
// else's work space, the command has the capabilities of [plan.Owner], which apply only in
// its user namespace.
type privileges struct {
	*Job
	defaults
}

func (c *privileges) Name() string { return "privileges" }

func (c *privileges) Requested() (string, bool) {
	if o := c.Job.Plan.Owner; o != nil {
		return "CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER over files of " + o.String() + ", no_new_privs", true
	}
	return "no capability, no_new_privs", true
}

// kept returns the capabilities of the command: 0 unless there is an [plan.Owner].
func (j *Job) kept() uint32 {
	if j.Plan.Owner == nil {
		return 0
	}
	return plan.OwnerCapabilities
}

// initKeeps returns the capabilities that init may raise again when it is alone: see
// finalize.
func (j *Job) initKeeps() uint32 {
	if j.Uncovers {
		return j.kept() | sysAdmin
	}
	return j.kept()
}

func (c *privileges) Steps(at Phase, p *Program) {
	switch at {
	case InitStarts:
		if c.Wrapped { // the filter is in force; the thread that started bwrap has done it
			return
		}
		keyring := step("init", "keyctl", unix.SYS_KEYCTL, "a session keyring of its own", steps.Int(unix.KEYCTL_JOIN_SESSION_KEYRING), steps.Int(0))
		keyring.Tolerate = []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EDQUOT}
		p.Init = append(p.Init, keyring)
	case Privileges:
		p.Command = drop(p.Command, c.machine.lastCapability(), c.keepsBounds(), c.kept())
	case Finalize:
		p.Finalize = c.finalize()
		if keeps := c.initKeeps(); c.kept() != 0 {
			p.Cleanup = append([]steps.Step{capset("init", keeps, keeps, 0)}, p.Cleanup...)
		}
	}
}

// drop leaves only the capabilities in kept, and no way to gain others. Kept capabilities
// survive execve(2) as ambient ones. For that they must be inheritable, which is possible
// only while they are in the bounding set.
func drop(s []steps.Step, last int, keepBounds bool, kept uint32) []steps.Step {
	const stage = "privileges"
	s = append(s, noNewPrivs(stage))
	if kept != 0 {
		s = append(s, capset(stage, kept|setPCap, kept|setPCap, kept))
	}
	for capability := 0; capability <= last && !keepBounds; capability++ {
		s = append(s, prctl(stage, "PR_CAPBSET_DROP", steps.Int(unix.PR_CAPBSET_DROP), steps.Int(capability)))
	}
	s = append(s, prctl(stage, "PR_CAP_AMBIENT_CLEAR_ALL", steps.Int(unix.PR_CAP_AMBIENT), steps.Int(unix.PR_CAP_AMBIENT_CLEAR_ALL), steps.Int(0), steps.Int(0), steps.Int(0)))
	for left := kept; left != 0; left &= left - 1 {
		s = append(s, prctl(stage, "PR_CAP_AMBIENT_RAISE", steps.Int(unix.PR_CAP_AMBIENT), steps.Int(unix.PR_CAP_AMBIENT_RAISE), steps.Int(bits.TrailingZeros32(left)), steps.Int(0), steps.Int(0)))
	}
	if !keepBounds {
		s = append(s, prctl(stage, "PR_SET_SECUREBITS", steps.Int(unix.PR_SET_SECUREBITS), steps.Int(Securebits)))
	}
	return append(s, capset(stage, kept, kept, kept))
}

const setPCap = 1 << unix.CAP_SETPCAP // to change the bounding set and the securebits

// keepsBounds reports whether the bounding set is left unchanged. Without a user namespace,
// an ordinary user may not change it (CAP_SETPCAP). Such a user has no capabilities, and
// no_new_privs prevents gaining any, because execve(2) then adds nothing to the permitted
// set. Root must drop it, unless it is empty, as in a container without capabilities: then
// root may not change it either, and execve(2) gives root nothing. bwrap has dropped it, and
// leaves no right to change the securebits.
func (c *privileges) keepsBounds() bool {
	return c.Wrapped || c.Flat && (c.machine.uid != 0 || c.machine.boundingSet() == 0)
}

// foreignBounds reports whether the command has the bounding set of the caller.
func (c *privileges) foreignBounds() bool {
	return !c.Wrapped && c.keepsBounds() && c.machine.boundingSet() != 0
}

func noNewPrivs(stage string) steps.Step {
	return prctl(stage, "PR_SET_NO_NEW_PRIVS", steps.Int(unix.PR_SET_NO_NEW_PRIVS), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0))
}

// finalize makes init as weak as the command: it only sends signals to its own processes.
// It cannot be traced or read through /proc. If it has placeholders to remove, it may raise
// CAP_SYS_ADMIN again while it is alone, to unmount what is mounted on them, because
// unlink(2) of a mount point fails with EBUSY. If the placeholders are in somebody else's
// directories, it may also raise the capabilities of [plan.Owner].
func (c *privileges) finalize() []steps.Step {
	const stage = "init"
	return []steps.Step{
		prctl(stage, "PR_SET_DUMPABLE", steps.Int(unix.PR_SET_DUMPABLE), steps.Int(0)),
		noNewPrivs(stage),
		capset(stage, 0, c.initKeeps(), 0),
	}
}

// Securebits remove the special meaning of uid 0, irrevocably. SECBIT_KEEP_CAPS has no
// effect on an empty set and stays unlocked, because programs that change ids clear it with
// prctl(2) and exit if that fails. capabilities(7), linux/securebits.h.
const Securebits = 1<<0 | 1<<1 | // SECBIT_NOROOT and its lock
	1<<2 | 1<<3 | // SECBIT_NO_SETUID_FIXUP and its lock
	1<<6 | 1<<7 // SECBIT_NO_CAP_AMBIENT_RAISE and its lock

func (c *privileges) Verify(s Status) error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		want := c.kept()
		if set == "CapBnd" {
			if want = 0; c.foreignBounds() {
				continue
			}
		}
		if has, err := strconv.ParseUint(s.field(set), 16, 64); err != nil || has != uint64(want) {
			return fmt.Errorf("capabilities: %s is %q, not %#x", set, s.field(set), want)
		}
	}
	if s.field("NoNewPrivs") != "1" {
		return fmt.Errorf("NoNewPrivs is %q, not 1", s.field("NoNewPrivs"))
	}
	return nil
}

// Report marks the line as degraded if the session keyring is the caller's. The system call
// filter then prevents its use.
func (c *privileges) Report(line record.Control) record.Control {
	if line.State == Enforced && c.foreignBounds() {
		line.Reason = "the bounding set is the caller's; no_new_privs keeps it from being used"
	}
	return c.degrade(line, "keyctl", "the session keyring is the caller's")
}
