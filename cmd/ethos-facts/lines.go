package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
	"unicode/utf8"

	"ethos/pkg/record"
	"ethos/pkg/timerslack"
)

// mostAnalysts limits the scripts that are described in parallel, and so the
// memory: each holds a line and its record.
const mostAnalysts = 8

// script is one input line being turned into a record.
type script struct {
	line  int
	id    string // assigned in the order of the lines
	now   time.Time
	text  []byte
	bad   *record.BadLine // the line is not a valid script
	err   error           // reading has ended
	flush bool            // reading may block: write out everything before
	done  chan *description
}

// lines describes one script per line: several in parallel, written in the
// order of the lines.
func (w *writer) lines(ctx context.Context) error {
	w.sys.Waits("scripts, one a line,", "ethos-facts -- COMMAND, or ethos-facts -c SCRIPT")
	reading, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan struct{})
	defer close(stopped)
	analysts := min(runtime.GOMAXPROCS(0), mostAnalysts)
	queue := make(chan *script, 4*analysts)
	go w.read(record.NewReader(record.Interruptible(reading, w.sys.Stdin), w.max), analysts, queue, stopped)
	for s := range queue {
		if err := w.script(s); errors.Is(err, io.EOF) {
			return ctx.Err()
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// script writes the record of one script once it is described.
func (w *writer) script(s *script) error {
	w.line = s.line
	switch {
	case s.flush:
		if err := w.out.Flush(); err != nil {
			return fmt.Errorf("write records: %w", err)
		}
		return nil
	case s.err != nil:
		return s.err
	case s.bad != nil:
		s.bad.ID = s.id
		return w.fault(s.bad, "")
	}
	err := w.tellAndPut(<-s.done, s.id, s.now, s.text)
	var bad *record.BadLine
	if errors.As(err, &bad) {
		return w.fault(bad, "")
	}
	return err
}

// read puts every line into the queue, in order, and gives it to an analyst. It
// starts with one analyst, and adds another when all are busy.
func (w *writer) read(in *record.Reader, analysts int, queue chan<- *script, stopped <-chan struct{}) {
	defer close(queue)
	work := make(chan *script)
	defer close(work)
	put := func(s *script) bool {
		select {
		case queue <- s:
			return true
		case <-stopped:
			return false
		}
	}
	for started := 0; ; {
		timerslack.Restore()
		if !in.Ready() && !put(&script{flush: true}) {
			return
		}
		s := w.next(in)
		if !put(s) || s.err != nil {
			return
		}
		if s.done == nil {
			continue
		}
		select {
		case work <- s:
			continue
		default:
		}
		if started < analysts {
			n := w.analyst
			if started++; started > 1 {
				n = w.another()
			}
			go w.work(n, work)
		}
		work <- s // analysts wait only for work
	}
}

func (w *writer) next(in *record.Reader) *script {
	text, err := in.NextText()
	s := &script{line: in.LineNumber()}
	if err != nil && !errors.As(err, &s.bad) {
		s.err = err
		return s
	}
	s.now = w.sys.Now()
	s.id = record.NewID(s.now)
	if s.bad != nil {
		return s
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		s.bad = record.NewBadLine(record.CodeInvalidUTF8, "the script is not UTF-8 text", text)
		return s
	}
	s.text, s.done = bytes.Clone(text), make(chan *description, 1)
	return s
}

// work describes scripts until none are left.
func (w *writer) work(n *analyst, scripts <-chan *script) {
	for s := range scripts {
		timerslack.Restore()
		s.done <- n.describe(record.Action{Kind: record.KindShell, Script: string(s.text), Cwd: w.cwd}, w.trust(record.Actor{}))
	}
}
