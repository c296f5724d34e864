package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"ethos/pkg/cli"
	"ethos/pkg/nospace"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// maxStores limits the stores that are open at the same time.
const maxStores = 16

// stores appends each record to the store of its workspace. A failure is reported once per store,
// and does not stop the report.
type stores struct {
	sys         *cli.System
	fixed       string // one store for all; "" for each workspace's own
	off         bool
	keepSecrets bool

	open   []*trace.Store // most recently used last
	failed map[string]bool
	loose  *trace.Redactor // for lines without a store
	err    error           // from closing
}

// dir returns the store of a workspace; lines without one belong to the directory in which
// ethos-trace was started.
func (s *stores) dir(space string) string {
	if s.fixed != "" {
		return s.fixed
	}
	if space == "" {
		space = trace.WorkTree(s.sys.Dir)
	}
	return trace.DefaultDir(space)
}

func (s *stores) keep(l *record.Line, space string) {
	if s.off {
		return
	}
	dir := s.dir(space)
	store, err := s.store(dir, space)
	if err == nil {
		known := len(store.Repairs())
		err = store.AppendRedacted(l)
		s.repaired(store, known)
	}
	if err != nil {
		s.fail(dir, err)
	}
}

// fail reports once that a store does not work.
func (s *stores) fail(dir string, err error) {
	if s.failed == nil {
		s.failed = map[string]bool{}
	}
	if !s.failed[dir] {
		s.failed[dir] = true
		if s.kept(err) {
			s.sys.Warn("not stored: this runs inside ethos-sandbox, where the store is out of reach", "the record of the run outside counts; --no-store turns this warning off")
			return
		}
		s.err = errors.Join(s.err, cli.Errorf(cli.BadInput, cmp.Or(nospace.Hint(err, dir), "name another store with --store, or keep nothing with --no-store"), "not stored: %w", err))
	}
}

// kept reports whether the boundary around this process keeps it from writing a store. Then the
// record of the run that has that boundary counts, which is outside. The warning names no path: the
// run outside would take that for what its command lacks.
func (s *stores) kept(err error) bool {
	return (errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)) && trust.Inside()
}

func (s *stores) repaired(store *trace.Store, known int) {
	for _, r := range store.Repairs()[known:] {
		text := fmt.Sprintf("store %s: %s: %s", store.Dir(), r.File, r.Reason)
		hint := "ethos-trace verify shows where"
		if r.Aside != "" {
			text += fmt.Sprintf("; %d bytes were set aside", r.Bytes)
			hint = "they are in " + store.Dir() + "/" + r.Aside
		}
		s.sys.Warn(text, hint)
	}
}

func (s *stores) store(dir, space string) (*trace.Store, error) {
	i := slices.IndexFunc(s.open, func(o *trace.Store) bool { return o.Dir() == dir })
	if i >= 0 {
		if store := s.open[i]; i < len(s.open)-1 {
			s.open = append(slices.Delete(s.open, i, i+1), store)
		}
		return s.open[len(s.open)-1], nil
	}
	if s.failed[dir] {
		return nil, errors.New("it failed before")
	}
	if s.fixed == "" && space != "" {
		if _, err := os.Stat(space); err != nil {
			return nil, fmt.Errorf("the work space is not on this machine: %w", err)
		}
	}
	store, err := trace.Open(s.sys.Getenv, dir)
	if err != nil {
		return nil, err
	}
	store.Now = s.sys.Now
	store.KeepSecrets = s.keepSecrets
	if len(s.open) == maxStores {
		s.err = errors.Join(s.err, s.open[0].Close())
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, store)
	return store, nil
}

// redactor returns the redactor of the store that the line will be kept in, so that marks can be
// compared there.
func (s *stores) redactor(l *record.Line) (*trace.Redactor, error) {
	if l.Kind() != record.LineOutput && !s.off {
		var a record.Action
		if l.Kind() == record.LineAction {
			if err := l.Decode("action", &a); err != nil {
				return nil, err
			}
		}
		if store, err := s.store(s.dir(a.Workspace), a.Workspace); err == nil {
			return store.Redactor()
		}
	}
	if s.loose == nil {
		s.loose = trace.NewRedactor()
	}
	return s.loose, nil
}

func (s *stores) close() error {
	for _, store := range s.open {
		s.err = errors.Join(s.err, store.Close())
	}
	s.open = nil
	return s.err
}
