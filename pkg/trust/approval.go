package trust

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/statedir"
)

// approvedFolder is the folder of the approvals that were not used yet.
const approvedFolder = "approved"

// MaxApproval is how long an approval can count.
const MaxApproval = 24 * time.Hour

// sessionSuffix ends the file name of an approval for a session.
const sessionSuffix = ".session"

// Approval lets one call pass: once, or as often as it comes in its session.
//
// It counts for a time that is measured from the start of the machine: setting
// the clock neither prolongs nor revives it, and a restart ends it.
type Approval struct {
	ID       string        `json:"id"`   // of the record that was refused
	Call     string        `json:"call"` // see [CallOf]
	Session  bool          `json:"session"`
	Policies []string      `json:"policies"` // that stood in the way
	Grants   []string      `json:"grants"`   // what comes with it, in the form of ethos-facts --grant
	By       string        `json:"by"`
	Time     time.Time     `json:"time"` // for people
	For      time.Duration `json:"for"`
	Boot     string        `json:"boot"`  // set by [Memory.Approve]
	Since    time.Duration `json:"since"` // the boot; set by [Memory.Approve]
}

// moment is a point of time that nobody sets: how long the machine is up, and
// which of its starts that is measured from.
type moment struct {
	boot  string
	since time.Duration
}

// sinceBoot reads /proc/uptime, which is CLOCK_BOOTTIME, and the id of the boot:
// proc_uptime(5), random(4).
func sinceBoot() (moment, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return moment{}, err
	}
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return moment{}, err
	}
	up, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil {
		return moment{}, fmt.Errorf("/proc/uptime: %w", err)
	}
	return moment{strings.TrimSpace(string(id)), time.Duration(seconds * float64(time.Second))}, nil
}

// Approve keeps an approval, in the place of an earlier one of the same call.
func (m *Memory) Approve(a Approval, workspace string, now time.Time) error {
	if a.For <= 0 || a.For > MaxApproval {
		return fmt.Errorf("an approval counts for up to %s", MaxApproval)
	}
	at, err := m.clock()
	if err != nil {
		return fmt.Errorf("how long the machine is up is not known: %w", err)
	}
	a.Boot, a.Since, a.Time = at.boot, at.since, now.UTC()
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	for range attempts {
		dir, makeErr := statedir.Make(m.getenv, approvedFolder)
		if makeErr != nil {
			return makeErr
		}
		if err = outside(dir, workspace); err != nil {
			return err
		}
		if err = statedir.Replace(dir, approvalName(a.Call, a.Session), text, true); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func approvalName(call string, session bool) string {
	if session {
		return callName(call) + sessionSuffix
	}
	return callName(call)
}

// Take returns the approval of a call, and uses it up where it is for once: of
// several callers one gets it, because rename(2) moves a file once. nil is none.
// An approval that cannot be believed, or whose time is over, approves nothing;
// it is gone after this, and the error says why.
func (m *Memory) Take(call, workspace string) (*Approval, error) {
	dir, err := statedir.Open(m.getenv, approvedFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := outside(dir, workspace); err != nil {
		return nil, err
	}
	taken := filepath.Join(dir, statedir.Partial+rand.Text())
	switch err := os.Rename(filepath.Join(dir, approvalName(call, false)), taken); {
	case err == nil:
		defer os.Remove(taken)
		return m.believe(taken, call, false)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	name := filepath.Join(dir, approvalName(call, true))
	a, err := m.believe(name, call, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return a, err
}

// believe reads an approval, and holds it to the call and to its time.
func (m *Memory) believe(name, call string, session bool) (*Approval, error) {
	var a Approval
	if err := read(name, &a); err != nil {
		return nil, err
	}
	at, err := m.clock()
	switch up := at.since - a.Since; {
	case err != nil:
		return nil, err
	case a.Call != call || a.Session != session:
		return nil, fmt.Errorf("%s: %w: it is about another call", name, ErrCorrupt)
	case a.For <= 0 || a.For > MaxApproval:
		return nil, fmt.Errorf("%s: %w: it counts for %s", name, ErrCorrupt, a.For)
	case a.Boot != at.boot:
		return nil, errors.New("the approval of this call ended with the restart of the machine")
	case up < 0 || up > a.For:
		return nil, fmt.Errorf("the approval of this call ended: it counted for %s", a.For)
	}
	return &a, nil
}
