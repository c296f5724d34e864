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

// refusedFolder is the folder of calls that were recently refused or asked about.
const refusedFolder = "refused"

// refusedLife is how long a refused call is kept. maxRefused limits how many are kept, so that an
// agent whose calls are refused without end does not fill the disk.
const (
	refusedLife = time.Hour
	maxRefused  = 256
)

// Refused is a call that policy refused or asked about, or that it allowed without the network
// access that the call needs.
type Refused struct {
	ID        string    `json:"id"` // the ID of the record
	Time      time.Time `json:"time"`
	Call      string    `json:"call"` // see [CallOf]
	Agent     string    `json:"agent"`
	Session   string    `json:"session"` // the session of the agent
	Cwd       string    `json:"cwd"`
	Workspace string    `json:"workspace"`
	Command   string    `json:"command"`  // the command, for people
	Verdict   string    `json:"verdict"`  // ask | deny | allow
	Policies  []string  `json:"policies"` // the policies that refused the call
	Never     []string  `json:"never"`    // those of them that no approval overrides, errors included
	Grants    []string  `json:"grants"`   // what the call needs, in the form of ethos-facts --grant
	// Action is the action without the agent's input. It is nil if the action is too long.
	Action *record.Action `json:"action,omitempty"`
}

// CallOf returns the digest of everything in a call that a decision depends on: the action, its
// directory, the actor, the mode, and all facts. Other text from the agent, such as its description
// of a command, is not part of it. A call that differs in any of the former is a different call.
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

// Note stores a refused call for [Memory.Refused]. The first call with an ID stays, so that nobody
// can put another command under an ID that a person has seen.
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
	err = statedir.Place(dir, nameOf(refusedFolder, r.ID), text, false) // not needed after a crash of the machine
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// forgetRefused removes calls that are too old, and the oldest ones if there are too many. Errors
// are ignored.
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

// Refused lists the calls that were refused in the last hour, the oldest first. It leaves out files
// that are not valid.
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

func callName(call string) string {
	sum := sha256.Sum256([]byte(call))
	return hex.EncodeToString(sum[:])
}
