package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"ethos/pkg/record"
)

var zeroTime time.Time

// storeKey is the member with a store's own statements. [Store.Append] removes it from lines that
// come from outside.
const storeKey = "store"

// Pruned describes what a prune removed. It is stored in the line of an event named pruned.
type Pruned struct {
	Files []string `json:"files"`
	Lines int      `json:"lines"`
	Last  Hash     `json:"last"` // of the last line removed
}

// ownWords is the value of storeKey.
type ownWords struct {
	Pruned Pruned `json:"pruned"`
}

// Prune removes the day files that ended before the given time. It first appends an event that
// names the last removed line. The chain then begins at a line whose prev the store itself accounts
// for, so that [Store.Verify] still notices any other missing line. The current day file is never
// removed.
func (s *Store) Prune(before time.Time) (Pruned, error) {
	p, err := s.Prunable(before)
	if err != nil || len(p.Files) == 0 {
		return p, err
	}
	event, err := s.pruneEvent(p)
	if err != nil {
		return p, err
	}
	if err := s.appendText(event); err != nil {
		return p, err
	}
	err = s.locked(func() error {
		for _, file := range p.Files {
			if err := s.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			s.root.Remove(path.Dir(file))           // the month,
			s.root.Remove(path.Dir(path.Dir(file))) // the year: each only when empty
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("prune store %s: %w", s.dir, err)
	}
	return p, nil
}

// Prunable returns what [Store.Prune] would remove.
func (s *Store) Prunable(before time.Time) (Pruned, error) {
	p := Pruned{Files: []string{}, Last: Genesis}
	days, err := s.days()
	if err != nil {
		return p, fmt.Errorf("prune store %s: %w", s.dir, err)
	}
	for i, file := range days {
		day, _ := dayOf(file)
		if i == len(days)-1 || day.AddDate(0, 0, 1).After(before) {
			break
		}
		if err := s.walkDay(file, p.note); err != nil {
			return p, fmt.Errorf("prune store %s: %s: %w", s.dir, file, err)
		}
		p.Files = append(p.Files, file)
	}
	return p, nil
}

func (p *Pruned) note(l Stored) error {
	if _, hash, ok := readSeal(l.Text); ok {
		p.Last = hash
	}
	if !l.Torn {
		p.Lines++
	}
	return nil
}

func (s *Store) pruneEvent(p Pruned) ([]byte, error) {
	action := record.Action{Kind: record.KindEvent, Name: "pruned", Cwd: "/", Workspace: "/"}
	l := record.NewLine("", s.now(), action, record.Actor{Tool: "ethos-trace", Mode: record.ModeSafe})
	if err := l.Set(storeKey, ownWords{p}); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(l.AppendTo(nil), []byte{'\n'}), nil
}

// readPruned reads a store's own statement from one of its lines.
func readPruned(text []byte) (Pruned, bool) {
	if !bytes.Contains(text, []byte(`,"`+storeKey+`":{"pruned":`)) {
		return Pruned{}, false
	}
	l, err := record.ParseLine(text)
	if err != nil {
		return Pruned{}, false
	}
	var words ownWords
	if json.Unmarshal(l.Raw(storeKey), &words) != nil {
		return Pruned{}, false
	}
	return words.Pruned, words.Pruned.Last != ""
}
