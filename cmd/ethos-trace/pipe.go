package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
	"ethos/pkg/trace/sarif"
	"ethos/pkg/trace/tooloutput"
)

// maxRunning limits the actions that are tracked as running.
const maxRunning = 100_000

// pipe processes every line: redaction, the store, and the outputs.
type pipe struct {
	sys         *cli.System
	stores      *stores
	sarif       *sarif.Writer  // nil if not requested
	sink        report.Sink    // nil for ndjson and sarif
	lines       *record.Writer // for ndjson
	keepSecrets bool
	live        *trace.LiveRedactor // for output lines
	text        []byte              // of the line being redacted
	counted     bool                // findings count only if they are not in the baseline

	held     trace.Held[*trace.Entry]
	running  map[string]bool // actions with output and no end yet
	came     int             // number of lines read
	fresh    int             // findings and denials that are not in the baseline
	bad      int             // error lines: exit status 3
	negative int             // exit status 1
}

// item is one line, or the reason why there is none.
type item struct {
	line   *record.Line
	err    error
	number int
}

// ticker is implemented by a sink that redraws while it waits, flusher by one that buffers lines.
type (
	ticker  interface{ Tick() error }
	flusher interface{ Flush() error }
)

const (
	tickEvery = 100 * time.Millisecond
	// drainFor is how long reading continues after a signal: the previous stages get the signal
	// too, and their last records matter most.
	drainFor = 2 * time.Second
)

// read processes one input. After the end of ctx it continues until the end of the input, for at
// most drainFor.
func (p *pipe) read(ctx context.Context, in io.Reader, maxLine int) error {
	ctx, stop := lingering(ctx, drainFor)
	defer stop()
	items := make(chan []item, 2)
	go produce(ctx, record.NewReader(in, maxLine), items)
	tick, redraw := time.NewTicker(tickEvery), p.redraw()
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := redraw(); err != nil {
				return fmt.Errorf("write report: %w", err)
			}
		case list, ok := <-items:
			if !ok {
				return nil
			}
			for _, it := range list {
				if err := p.take(it); err != nil {
					return err
				}
			}
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
}

func lingering(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(d, cancel) })
	return ctx, func() { stop(); cancel() }
}

func (p *pipe) redraw() func() error {
	if t, ok := p.sink.(ticker); ok {
		return t.Tick
	}
	return func() error { return nil }
}

// flush writes what was reported of the lines so far.
func (p *pipe) flush() error {
	if p.lines != nil {
		return p.lines.Flush()
	}
	if f, ok := p.sink.(flusher); ok {
		return f.Flush()
	}
	return nil
}

// atOnce is how many lines are handed over together, if they are there: each hand-over may have to
// wake a thread.
const atOnce = 32

// produce reads lines until the input or ctx ends. It keeps no line back while it waits for the next.
func produce(ctx context.Context, r *record.Reader, to chan<- []item) {
	defer close(to)
	for ended := false; !ended; {
		list := make([]item, 0, atOnce)
		for len(list) < atOnce && !ended && (len(list) == 0 || r.Ready()) {
			l, err := r.Next()
			if errors.Is(err, io.EOF) {
				ended = true
				break
			}
			list = append(list, item{l, err, r.LineNumber()})
			var fault *record.BadLine
			ended = err != nil && !errors.As(err, &fault)
		}
		select {
		case to <- list:
		case <-ctx.Done():
			return
		}
	}
}

// take processes one line. It returns only errors after which continuing is useless.
func (p *pipe) take(it item) error {
	p.came++
	l := it.line
	if it.err != nil {
		var fault *record.BadLine
		if !errors.As(it.err, &fault) {
			return fmt.Errorf("read records: %w", it.err)
		}
		l = fault.Line("trace", it.number, p.sys.Now())
	}
	l, err := p.redact(l)
	if err != nil {
		return err
	}
	switch l.Kind() {
	case record.LineOutput:
		err = p.output(l)
	case record.LineError:
		err = p.invalid(l)
	default:
		err = p.action(l)
	}
	if err == nil && p.lines != nil {
		err = p.lines.Write(l)
	}
	return err
}

// redact removes the secrets from a line; a line without secrets is returned unchanged.
func (p *pipe) redact(l *record.Line) (*record.Line, error) {
	if p.keepSecrets {
		return l, nil
	}
	r, err := p.stores.redactor(l)
	if err != nil {
		return nil, err
	}
	if l.Kind() == record.LineOutput {
		var o record.Output
		if err := l.Decode("output", &o); err == nil && o.Action == nil {
			return l, p.redactPiece(l, o, r)
		}
	}
	p.text = l.AppendTo(p.text[:0])
	text, n := r.JSON(p.text[:len(p.text)-1])
	if n == 0 {
		return l, nil
	}
	clean, err := record.ParseLine(text)
	if err != nil {
		return nil, fmt.Errorf("redact the record %s: %w", l.ID(), err)
	}
	return clean, clean.Set("redacted", n)
}

// redactPiece redacts a piece of live output together with what came before it.
func (p *pipe) redactPiece(l *record.Line, o record.Output, r *trace.Redactor) error {
	if p.live == nil {
		p.live = trace.NewLiveRedactor(r)
	}
	piece := []byte(o.Text)
	if o.Base64 != "" {
		var err error
		if piece, err = base64.StdEncoding.DecodeString(o.Base64); err != nil {
			return nil // malformed: nothing to read in it
		}
	}
	clean, n := p.live.Piece(l.ID()+o.Stream, string(piece))
	if n == 0 {
		return nil
	}
	o.Text, o.Base64 = record.TextOrBase64([]byte(clean))
	return errors.Join(l.Set("output", o), l.Set("redacted", n))
}

func (p *pipe) output(l *record.Line) error {
	var o record.Output
	if err := l.Decode("output", &o); err != nil {
		return err
	}
	if len(p.running) < maxRunning {
		p.running[l.ID()] = true
	}
	if p.sink == nil {
		return nil
	}
	return p.sink.Output(l.ID(), o)
}

func (p *pipe) invalid(l *record.Line) error {
	p.bad++
	p.ended(l.ID())
	var e record.Error
	if err := l.Decode("error", &e); err != nil {
		return err
	}
	p.stores.keep(l, "")
	if p.sarif != nil {
		if err := p.sarif.AddError(l.ID(), e); err != nil {
			return err
		}
	}
	if p.sink == nil {
		return nil
	}
	return p.sink.Bad(l.ID(), e)
}

// ended discards the live output of an action.
func (p *pipe) ended(id string) {
	delete(p.running, id)
	if p.live != nil {
		p.live.Done(id + "stdout")
		p.live.Done(id + "stderr")
	}
}

func (p *pipe) action(l *record.Line) error {
	p.ended(l.ID())
	e, err := trace.NewEntry(l, p.sys.Now())
	if err != nil {
		return err
	}
	p.stores.keep(l, e.Action.Workspace)
	if trace.HoldEntry(&p.held, e) {
		return nil
	}
	return p.report(e)
}

// report adds an action to the outputs.
func (p *pipe) report(e *trace.Entry) (err error) {
	tooloutput.Fill(e)
	fresh := len(e.Findings)
	if p.sarif != nil {
		if fresh, err = p.sarif.Add(e); err != nil {
			return err
		}
	}
	p.fresh += fresh
	if p.counts(e, fresh) {
		p.negative++
	}
	if p.sink == nil {
		return nil
	}
	return p.sink.Action(e)
}

// counts reports whether the entry makes the exit status 1.
func (p *pipe) counts(e *trace.Entry, fresh int) bool {
	outcome := e.Outcome()
	if outcome == trace.Found && p.counted && len(e.Denials()) == 0 {
		return fresh > 0
	}
	return outcome.Negative()
}
