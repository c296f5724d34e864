package lab

import "time"

// PlanFile is where the guest's init finds its [Plan], as JSON.
const PlanFile = "/lab/plan.json"

// Plan is what a guest does: prepare itself, run each case, count the results.
type Plan struct {
	Modules []Module          // to load, in order
	Prepare [][]string        // commands to run as root, each of which must succeed
	Sysctls map[string]string // path below /proc/sys → value
	Cases   []Case
}

// Module is a kernel module.
type Module struct{ File, Parameters string }

// Case is one test program of a guest. Its standard output and error go to the console between its marker lines.
type Case struct {
	Name    string
	Argv    []string
	Dir     string
	Env     []string
	UID     uint32 // also the GID
	Owner   uint32 // owner of the cgroup, if other than UID
	Cgroup  string // see the Cgroup constants
	Timeout time.Duration
	Status  int      // the exit status it must have
	Tests   []string `json:"-"` // the tests that must pass, by their names in the test program
}

// The position of a [Case] in the cgroup v2 tree.
const (
	CgroupRoot      = ""          // in the root cgroup
	CgroupDelegated = "delegated" // in a cgroup of its own below one delegated to its user, as systemd does it (cgroup-v2.rst, Delegation)
	CgroupForeign   = "foreign"   // in a cgroup that its user cannot write
	CgroupWithheld  = "withheld"  // as delegated, but no controller is enabled
	CgroupPopulated = "populated" // as delegated, but the parent cgroup has a process, so that it cannot enable controllers: EBUSY
)

// The console lines of a guest. Each is a line of its own that begins with "\x1e", so that no
// program's output matches by chance.
const (
	markBegin = "\x1elab begin %s"
	markEnd   = "\x1elab end %s status=%d ms=%d"
	markTally = "\x1elab tally cases=%d passed=%d failed=%d"
)
