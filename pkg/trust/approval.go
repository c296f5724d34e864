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

// approvedFolder is the folder of approvals that have not been used yet.
const approvedFolder = "approved"

// MaxApproval is the longest time for which an approval is valid.
const MaxApproval = 24 * time.Hour

// sessionSuffix is the suffix of the file name of an approval for a whole session.
const sessionSuffix = ".session"

// Approval lets one call pass: once, or each time that the call occurs in its session.
//
// Its validity is measured on the clock that counts from boot. Setting the system time neither
// prolongs nor revives an approval, and a reboot ends it.
type Approval struct {
	ID       string        `json:"id"`   // the ID of the refused record
	Call     string        `json:"call"` // see [CallOf]
	Session  bool          `json:"session"`
	Policies []string      `json:"policies"` // the policies that refused the call
	Grants   []string      `json:"grants"`   // the grants that come with it, in the form of --grant
	By       string        `json:"by"`
	Time     time.Time     `json:"time"` // for people; not used to judge the approval
	For      time.Duration `json:"for"`
	Boot     string        `json:"boot"`  // set by [Memory.Approve]
	Since    time.Duration `json:"since"` // time since boot; set by [Memory.Approve]
}

// moment is a point in time that does not depend on the system clock: the time since boot, and the
// boot from which it is measured.
type moment struct {
	boot  string
	since time.Duration
}

// sinceBoot reads /proc/uptime, which is CLOCK_BOOTTIME, and the boot ID: see proc_uptime(5) and
// random(4).
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

// Approve stores an approval and replaces an earlier one of the same call.
func (m *Memory) Approve(a Approval, workspace string, now time.Time) error {
	if a.For <= 0 || a.For > MaxApproval {
		return fmt.Errorf("an approval is valid for at most %s", MaxApproval)
	}
	at, err := m.clock()
	if err != nil {
		return fmt.Errorf("the uptime of the machine is not known: %w", err)
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

// Take returns the approval of a call, and removes it if it is valid only once. Of several
// concurrent callers exactly one gets it, because rename(2) moves a file once. The result is nil if
// there is no approval. An approval that is not valid or has expired approves nothing: Take removes
// it, and the error gives the reason.
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

// believe reads an approval and checks it against the call and the time.
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
		return nil, fmt.Errorf("%s: %w: it is valid for %s", name, ErrCorrupt, a.For)
	case a.Boot != at.boot:
		return nil, errors.New("the approval of this call ended with the restart of the machine")
	case up < 0 || up > a.For:
		return nil, fmt.Errorf("the approval of this call ended: it was valid for %s", a.For)
	}
	return &a, nil
}
