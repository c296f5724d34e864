package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// FaultKind says what is wrong with a store.
type FaultKind string

// The kinds of fault.
const (
	FaultChanged   FaultKind = "changed"   // the line was modified
	FaultMissing   FaultKind = "missing"   // lines before it were removed or replaced
	FaultReordered FaultKind = "reordered" // the line was moved
	FaultTorn      FaultKind = "torn"      // a writer died while writing it; the next writer moves it aside
	FaultTruncated FaultKind = "truncated" // the store ends before its recorded end
	FaultForeign   FaultKind = "foreign"   // the line has no seal
)

// Fault is one defect and its position.
type Fault struct {
	At     string    `json:"at"` // YYYY/MM/DD.ndjson:N
	Kind   FaultKind `json:"kind"`
	Detail string    `json:"detail"`
}

// Verification is the result of [Store.Verify].
type Verification struct {
	Lines  int     `json:"lines"`
	Files  int     `json:"files"`
	Head   Hash    `json:"head"`   // hash of the last line
	Pruned int     `json:"pruned"` // number of lines pruned, according to the store itself
	Faults []Fault `json:"faults"`
}

// maxFaults limits the faults listed.
const maxFaults = 10_000

// Verify reads the whole store and checks every line and the chain between them. Writers may append
// concurrently.
func (s *Store) Verify() (*Verification, error) {
	v := &verifier{result: &Verification{Head: Genesis, Faults: []Fault{}}}
	err := s.quiet(func() (err error) {
		v.recorded, v.known, err = s.recordedHead()
		if err == nil {
			v.last, v.size, err = s.lastDay()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify store %s: %w", s.dir, err)
	}
	if err := s.Walk(zeroTime, v.line); err != nil {
		return nil, err
	}
	v.end()
	if len(v.gaps) > 0 {
		if err := s.explain(v); err != nil {
			return nil, err
		}
	}
	return v.result, nil
}

// quiet runs fn while nobody writes.
func (s *Store) quiet(fn func() error) error {
	f, err := s.openFile(lockFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return fn()
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := flock(f, syscall.LOCK_SH); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return errors.Join(fn(), flock(f, syscall.LOCK_UN))
}

func (s *Store) lastDay() (file string, size int64, err error) {
	days, err := s.days()
	if err != nil || len(days) == 0 {
		return "", 0, err
	}
	file = days[len(days)-1]
	info, err := s.root.Lstat(file)
	if err != nil {
		return "", 0, err
	}
	return file, info.Size(), nil
}

// recordedHead reads HEAD without creating it.
func (s *Store) recordedHead() (head, bool, error) {
	f, err := s.openFile(headFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, false, nil
	}
	if err != nil {
		return head{}, false, err
	}
	defer f.Close()
	return readHead(f)
}

// verifier checks the lines in one pass.
type verifier struct {
	result   *Verification
	recorded head
	known    bool // recorded is valid
	reached  bool // the recorded end was reached, with its hash
	first    *gap
	gaps     []gap
	pruned   map[Hash]int // last pruned line → number of lines, from the store's own statements
	file     string
	last     string // the last day file at the start of verification,
	size     int64  // and its size then: later lines are not checked
}

// gap is a line whose prev is not the previous line.
type gap struct {
	at    string
	prev  Hash
	fault int // index in Faults; -1 if the list is full
}

func (v *verifier) line(l Stored) error {
	if l.File > v.last || l.File == v.last && l.Offset >= v.size {
		return ErrStop
	}
	if l.File != v.file {
		v.file = l.File
		v.result.Files++
	}
	if l.Torn {
		v.fault(l, FaultTorn, fmt.Sprintf("%d bytes without an end of line", len(l.Text)))
		return nil
	}
	v.result.Lines++
	seal, ok := unseal(l.Text)
	if !ok {
		v.fault(l, FaultForeign, "the line has no prev and hash at its end")
		return nil
	}
	if seal.hash != seal.computed {
		v.fault(l, FaultChanged, fmt.Sprintf("its content hashes to %s, its seal says %s", short(seal.computed), short(seal.hash)))
	}
	if seal.prev != v.result.Head {
		v.broken(l, seal.prev)
	}
	v.result.Head = seal.hash
	if v.known && l.File == v.recorded.file && l.Offset+int64(len(l.Text))+1 == v.recorded.size {
		v.reached = seal.hash == v.recorded.hash
	}
	v.statement(l)
	return nil
}

// broken records a break of the chain. Before the first line there may be pruned lines.
func (v *verifier) broken(l Stored, prev Hash) {
	g := gap{at: l.At(), prev: prev, fault: -1}
	if v.result.Lines == 1 {
		v.first = &g
		return
	}
	g.fault = v.fault(l, FaultMissing, "the line before it is not the one it was written after, "+short(prev))
	v.gaps = append(v.gaps, g)
}

func (v *verifier) fault(l Stored, kind FaultKind, detail string) int {
	if len(v.result.Faults) == maxFaults {
		return -1
	}
	v.result.Faults = append(v.result.Faults, Fault{At: l.At(), Kind: kind, Detail: detail})
	return len(v.result.Faults) - 1
}

// statement notes what the store says itself in a line.
func (v *verifier) statement(l Stored) {
	words := readStatement(l.Text)
	if p := words.Pruned; p != nil && p.Last != "" {
		if v.pruned == nil {
			v.pruned = map[Hash]int{}
		}
		v.pruned[p.Last] = p.Lines
		v.result.Pruned += p.Lines
	}
	if words.End != nil {
		v.fault(l, FaultMissing, "when it was written, the record of the store's end was missing or damaged; lines may be missing before it")
	}
}

// end checks the start and the end of the store.
func (v *verifier) end() {
	if v.first != nil {
		if _, attested := v.pruned[v.first.prev]; !attested {
			v.result.Faults = append(v.result.Faults, Fault{At: v.first.at, Kind: FaultMissing, Detail: "it is not the store's first line, and nothing says that those before it were pruned"})
		}
	}
	switch {
	case v.known && !v.reached && v.recorded.size > 0:
		v.result.Faults = append(v.result.Faults, Fault{
			At: v.recorded.file, Kind: FaultTruncated, Detail: fmt.Sprintf("the recorded end, byte %d with hash %s, is not there", v.recorded.size, short(v.recorded.hash)),
		})
	case !v.known && v.result.Lines > 0:
		v.result.Faults = append(v.result.Faults, Fault{At: headFile, Kind: FaultMissing, Detail: "the record of the store's end is not there; lines may be missing from it"})
	}
}

// explain distinguishes moved lines from removed ones: the line that preceded a moved line is still
// in the store.
func (s *Store) explain(v *verifier) error {
	wanted := map[Hash][]int{}
	for _, g := range v.gaps {
		if g.fault >= 0 {
			wanted[g.prev] = append(wanted[g.prev], g.fault)
		}
	}
	return s.Walk(zeroTime, func(l Stored) error {
		_, hash, ok := readSeal(l.Text)
		if !ok {
			return nil
		}
		for _, i := range wanted[hash] {
			f := &v.result.Faults[i]
			f.Kind, f.Detail = FaultReordered, "it was written after "+l.At()
		}
		return nil
	})
}

func short(h Hash) string { return string(h[:min(len(h), len(hashPrefix)+12)]) + "…" }
