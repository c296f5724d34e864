package control

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// privileges leave the command no capability in any set and no way to gain one, and init no more than it needs: capabilities(7).
type privileges struct{ *Job }

func (c *privileges) Name() string { return "privileges" }

func (c *privileges) Plan() (string, bool) { return "no capability, no_new_privs", true }

func (c *privileges) Steps(at Phase, p *Program) {
	switch at {
	case InitStarts:
		keyring := step("init", "keyctl", unix.SYS_KEYCTL, "a session keyring of its own", steps.Int(unix.KEYCTL_JOIN_SESSION_KEYRING), steps.Int(0))
		keyring.Tolerate = []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EDQUOT}
		p.Init = append(p.Init, keyring)
	case Privileges:
		p.Command = drop(p.Command, c.machine.lastCapability(), c.keepsBounds())
	case Finalize:
		p.Finalize = c.finalize()
	}
}

// drop leaves no capability in any set, and no way to gain one.
func drop(s []steps.Step, last int, keepBounds bool) []steps.Step {
	const stage = "privileges"
	s = append(s, noNewPrivs(stage))
	for capability := 0; capability <= last && !keepBounds; capability++ {
		s = append(s, prctl(stage, "PR_CAPBSET_DROP", steps.Int(unix.PR_CAPBSET_DROP), steps.Int(capability)))
	}
	s = append(s, prctl(stage, "PR_CAP_AMBIENT_CLEAR_ALL", steps.Int(unix.PR_CAP_AMBIENT), steps.Int(unix.PR_CAP_AMBIENT_CLEAR_ALL), steps.Int(0), steps.Int(0), steps.Int(0)))
	if !keepBounds {
		s = append(s, prctl(stage, "PR_SET_SECUREBITS", steps.Int(unix.PR_SET_SECUREBITS), steps.Int(Securebits)))
	}
	return append(s, capsetNone(stage))
}

// keepsBounds: without a user namespace an ordinary user may not change the bounding
// set (CAP_SETPCAP). It has no capability to bound, and no_new_privs keeps it from
// gaining one: execve(2) then adds nothing to the permitted set. Root must.
func (c *privileges) keepsBounds() bool { return c.Flat && c.machine.uid != 0 }

func noNewPrivs(stage string) steps.Step {
	return prctl(stage, "PR_SET_NO_NEW_PRIVS", steps.Int(unix.PR_SET_NO_NEW_PRIVS), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0))
}

// finalize makes init as weak as the command: it has signals to send to its own and nothing else to do. It cannot be traced or read through /proc.
// When it has placeholders to remove it may take up again, for the time it is alone, the right to unmount what lies on them: unlink(2) of a mount
// point is EBUSY.
func (c *privileges) finalize() []steps.Step {
	const stage = "init"
	last := capsetNone(stage)
	if c.Uncovers {
		last = capset(stage, 0, sysAdmin)
	}
	return []steps.Step{
		prctl(stage, "PR_SET_DUMPABLE", steps.Int(unix.PR_SET_DUMPABLE), steps.Int(0)),
		noNewPrivs(stage),
		last,
	}
}

// Securebits: uid 0 has no special meaning any more, and none of it can be undone. SECBIT_KEEP_CAPS keeps nothing of an
// empty set and stays unlocked, because programs that change ids clear it by prctl(2) and end when that fails.
// capabilities(7), linux/securebits.h.
const Securebits = 1<<0 | 1<<1 | // SECBIT_NOROOT and its lock
	1<<2 | 1<<3 | // SECBIT_NO_SETUID_FIXUP and its lock
	1<<6 | 1<<7 // SECBIT_NO_CAP_AMBIENT_RAISE and its lock

// capsetNone empties the permitted, effective and inheritable sets.
func capsetNone(stage string) steps.Step { return capset(stage, 0, 0) }

func (c *privileges) Verify(s Status) error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		if set == "CapBnd" && c.keepsBounds() {
			continue
		}
		if strings.Trim(s.field(set), "0") != "" || s.field(set) == "" {
			return fmt.Errorf("capabilities: %s is %q, not empty", set, s.field(set))
		}
	}
	if s.field("NoNewPrivs") != "1" {
		return fmt.Errorf("NoNewPrivs is %q, not 1", s.field("NoNewPrivs"))
	}
	return nil
}

// Report: the system call filter keeps the caller's keyring from being used where there is none of its own.
func (c *privileges) Report(line record.Control) record.Control {
	if line.State == Enforced && c.keepsBounds() {
		line.Reason = "the bounding set is the caller's; no_new_privs keeps it from being used"
	}
	return c.degrade(line, "keyctl", "the session keyring is the caller's")
}
