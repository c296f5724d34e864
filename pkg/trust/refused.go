package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/statedir"
)

// refusedFolder is the folder of the calls that were refused or asked lately.
const refusedFolder = "refused"

// refusedLife is how long a call is kept that was refused, and maxRefused how
// many are: an agent that is refused without end fills no disk.
const (
	refusedLife = time.Hour
	maxRefused  = 256
)

// Refused is a call that policy refused or asked about, or that it allowed
// without the network which the call needs.
type Refused struct {
	ID        string    `json:"id"` // of the record
	Time      time.Time `json:"time"`
	Call      string    `json:"call"` // see [CallOf]
	Agent     string    `json:"agent"`
	Session   string    `json:"session"` // the agent's session
	Cwd       string    `json:"cwd"`
	Workspace string    `json:"workspace"`
	Command   string    `json:"command"`  // what was to run, for people
	Verdict   string    `json:"verdict"`  // ask | deny | allow
	Policies  []string  `json:"policies"` // that stood in the way
	Never     []string  `json:"never"`    // those of them that no approval lifts; errors are among them
	Grants    []string  `json:"grants"`   // what the call needs, in the form of ethos-facts --grant
	// Action is what was to be done, without the agent's input; nil for one that is long.
	Action *record.Action `json:"action,omitempty"`
}

// CallOf is the digest of a call as far as a decision depends on it: what is to
// be done, where, by whom, in which mode, and all that was established about it.
// What an agent says beside it, such as its description of a command, does not
// count. A call that differs in any of these is another one.
func CallOf(action record.Action, actor record.Actor, facts *record.Facts) (string, error) {
	switch action.Kind {
	case record.KindExec, record.KindShell, record.KindFile, record.KindFetch:
		action.Input = nil
	}
	actor.AdminApproved = false
	text, err := json.Marshal(struct {
		Action record.Action
		Actor  record.Actor
		Facts  *record.Facts
	}{action, actor, facts})
	if err != nil {
		return "", fmt.Errorf("digest of the call: %w", err)
	}
	return Digest(text), nil
}

// Note keeps a refused call for [Memory.Refused]. The first call with an id
// counts: nobody puts another command under an id that a person has seen.
func (m *Memory) Note(r Refused, now time.Time) error {
	r.Time = now.UTC()
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(text) > maxEntry {
		return fmt.Errorf("the call is longer than %d bytes", maxEntry)
	}
	dir, err := statedir.Make(m.getenv, refusedFolder)
	if err != nil {
		return err
	}
	if err := outside(dir, r.Workspace); err != nil {
		return err
	}
	forgetRefused(dir, now)
	err = statedir.Place(dir, nameOf(refusedFolder, r.ID), text, false) // of no use after the machine has gone down
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// forgetRefused removes calls that are too old, and the oldest where there are
// too many. It is no matter when it fails.
func forgetRefused(dir string, now time.Time) {
	notes, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type note struct {
		name string
		at   time.Time
	}
	var kept []note
	for _, n := range notes {
		info, err := n.Info()
		switch {
		case err != nil:
		case now.Sub(info.ModTime()).Abs() > refusedLife:
			_ = os.Remove(filepath.Join(dir, n.Name()))
		default:
			kept = append(kept, note{n.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(kept, func(a, b note) int { return a.at.Compare(b.at) })
	for i := range max(0, len(kept)-maxRefused+1) {
		_ = os.Remove(filepath.Join(dir, kept[i].name))
	}
}

// Refused lists the calls of the last hour that were refused, the oldest first.
// What cannot be believed is left out.
func (m *Memory) Refused(now time.Time) ([]Refused, error) {
	dir, err := statedir.Open(m.getenv, refusedFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []Refused
	for _, n := range notes {
		var r Refused
		if strings.HasPrefix(n.Name(), statedir.Partial) || read(filepath.Join(dir, n.Name()), &r) != nil {
			continue
		}
		if n.Name() == nameOf(refusedFolder, r.ID) && now.Sub(r.Time).Abs() <= refusedLife {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Refused) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// callName is the file name of what is kept of a call.
func callName(call string) string {
	sum := sha256.Sum256([]byte(call))
	return hex.EncodeToString(sum[:])
}
