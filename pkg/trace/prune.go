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

// Restated says that the end of the store was not recorded when this line was written. It is stored
// in the line of an event named end-restated.
type Restated struct {
	Last Hash `json:"last"` // of the last line that was there
}

// ownWords is the value of storeKey: one of its members.
type ownWords struct {
	Pruned *Pruned   `json:"pruned,omitempty"`
	End    *Restated `json:"end,omitempty"`
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
	event, err := s.statement("pruned", ownWords{Pruned: &p})
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

// statement returns the text of an event with the store's own words.
func (s *Store) statement(name string, words ownWords) ([]byte, error) {
	action := record.Action{Kind: record.KindEvent, Name: name, Cwd: "/", Workspace: "/"}
	l := record.NewLine("", s.now(), action, record.Actor{Tool: "ethos-trace", Mode: record.ModeSafe})
	if err := l.Set(storeKey, words); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(l.AppendTo(nil), []byte{'\n'}), nil
}

// readStatement reads a store's own statement from one of its lines.
func readStatement(text []byte) (words ownWords) {
	if !bytes.Contains(text, []byte(`,"`+storeKey+`":{"`)) {
		return words
	}
	l, err := record.ParseLine(text)
	if err != nil || !l.Has(storeKey) || json.Unmarshal(l.Raw(storeKey), &words) != nil {
		return ownWords{}
	}
	return words
}
