package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

type pipeCmd struct {
	Jobs    int  `short:"j" default:"1" placeholder:"N" help:"Run up to N actions at once."`
	MaxLine int  `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
	Tree    bool `help:"Record the content of the work space before and after each command, for ethos-trace prove. A single record asks for this with \"tree\": true."`
	Explain bool `help:"Observe what each command asks for by name; record what it could not get inside, and what would allow it. A single record asks for this with \"explain\": true."`
}

// Run reads records, runs what is allowed, and writes records. The status is 3 after an invalid
// line, else 4 if this machine could not enforce what a record asks for, else 1 if something was
// denied, also at run time, or did not succeed.
func (c *pipeCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Jobs < 1 {
		return cli.Errorf(cli.Usage, "-j 1 runs one after the other", "-j %d is not a valid number of actions to run at once", c.Jobs)
	}
	p := &pipe{sys: sys, out: record.NewWriter(sys.Records()), max: c.MaxLine, jobs: c.Jobs, explain: c.Explain, tree: c.Tree, queue: make(chan queued, maxQueued)}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide | ethos-sandbox, or ethos-sandbox run -- COMMAND")
	p.recovered = recoverRuns(p.ctx, sys)
	for range c.Jobs {
		p.running.Go(p.work)
	}
	err := p.read()
	close(p.queue)
	p.running.Wait()
	sandbox.Release()
	if err = errors.Join(err, p.out.Flush()); err != nil {
		return err
	}
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	return p.status()
}

// pipe is one run of the filter.
type pipe struct {
	sys     *cli.System
	out     *record.Writer
	max     int
	explain bool        // observe every command
	tree    bool        // record the content of the workspace
	jobs    int         // actions that run in parallel
	queue   chan queued // in the order of arrival
	pending int         // actions read and not ended; protected by mu
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu                    sync.Mutex
	bad, unable, negative bool
	unread                bool            // a line of standard input is not a record
	recovered             []record.Denial // from killed runs; added to the first action's evidence
}

// maxQueued limits the actions that were read and wait for others. Each may be as long as a line.
const maxQueued = 64

// queued is an action that was read, with its line number.
type queued struct {
	line   *record.Line
	number int
}

// takeRecovered returns what was recovered, once.
func (p *pipe) takeRecovered() []record.Denial {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.recovered
	p.recovered = nil
	return left
}

func (p *pipe) note(flag *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*flag = true
}

func (p *pipe) status() error {
	if p.unread {
		p.sys.Fail("standard input has lines that are not records: their error lines on standard output say why", "ethos-facts and ethos-decide make records: ethos-facts -- COMMAND | ethos-decide | ethos-sandbox")
	}
	switch {
	case p.bad:
		return cli.Exit(cli.BadInput)
	case p.unable:
		return cli.Exit(cli.CannotEnforce)
	case p.negative:
		return cli.Negative
	}
	return nil
}

// read reads one line after the other. Actions run in parallel, up to the number of jobs, and wait
// in a queue; every other line is passed on immediately.
func (p *pipe) read() error {
	in := record.NewReader(record.Interruptible(p.ctx, p.sys.Stdin), p.max)
	for {
		line, err := in.Next()
		var bad *record.BadLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case p.ctx.Err() != nil:
			return nil // the caller reports the cause
		case errors.As(err, &bad):
			line = bad.Line("sandbox", in.LineNumber(), p.sys.Now())
			p.note(&p.unread)
		case err != nil:
			return fmt.Errorf("read records: %w", err)
		}
		if line.Kind() == record.LineError {
			p.note(&p.bad)
		}
		if line.Kind() != record.LineAction {
			p.write(line)
			continue
		}
		p.enqueue(queued{line, in.LineNumber()})
	}
}

// enqueue queues an action that was read. It announces an action that has to wait, so that an
// observer sees how many wait.
func (p *pipe) enqueue(q queued) {
	if p.count(1) > p.jobs {
		p.write(record.NewQueued(q.line.ID()))
	}
	select {
	case p.queue <- q:
	case <-p.ctx.Done():
	}
}

// count adds n to the number of actions that were read and have not ended, and returns the result.
func (p *pipe) count(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending += n
	return p.pending
}

// work processes the queue, one action after the other. It starts nothing after the end of the
// context.
func (p *pipe) work() {
	for q := range p.queue {
		if p.ctx.Err() != nil {
			return
		}
		if err := p.action(q.line); err != nil {
			p.note(&p.bad)
			q.line = err.Line("sandbox", q.number, p.sys.Now())
		}
		p.write(q.line)
		p.count(-1)
	}
}

// write passes on a line immediately, because somebody may be watching. If the reader is gone,
// everything ends.
func (p *pipe) write(line *record.Line) {
	err := p.out.Write(line)
	if err == nil {
		err = p.out.Flush()
	}
	if err != nil {
		p.cancel(fmt.Errorf("write records: %w", err))
	}
}

// action executes a record and sets its result.
func (p *pipe) action(line *record.Line) *record.BadLine {
	var action record.Action
	if err := line.Decode("action", &action); err != nil {
		return badLine(err)
	}
	if action.Kind != record.KindExec && action.Kind != record.KindShell {
		return nil
	}
	refusal, err := judge(line)
	if err != nil {
		return badLine(err)
	}
	var result record.Result
	if refusal != nil {
		result = sandbox.Denied(refusal.Code, refusal.Error(), refusal.Hint, sandbox.NoEvidence())
	} else {
		result = p.execute(line, action)
	}
	if result.Status != record.StatusExited || result.ExitCode != 0 || slices.ContainsFunc(result.Capture.Sandbox.Denials, func(d record.Denial) bool { return d.Kind == "" }) {
		p.note(&p.negative)
	}
	return badLine(fit(line, result, p.max))
}

func badLine(err error) *record.BadLine {
	if err == nil {
		return nil
	}
	var bad *record.BadLine
	if errors.As(err, &bad) {
		return bad
	}
	return record.NewBadLine(record.CodeWrongValue, err.Error(), nil)
}

// fit sets the result. If the line would become too long for the next stage, it reduces the output,
// and then connections and writes.
func fit(line *record.Line, result record.Result, max int) error {
	for {
		if err := line.Set("result", result); err != nil {
			return err
		}
		streams := []*record.Stream{&result.Capture.Stdout, &result.Capture.Stderr}
		connections := &result.Capture.Sandbox.Connections
		switch {
		case len(line.AppendTo(nil)) <= max:
			return nil
		case len(streams[0].Text)+len(streams[0].Base64)+len(streams[1].Text)+len(streams[1].Base64) > 0:
			for _, s := range streams {
				sandbox.Shorten(s)
			}
		case len(*connections) > 0:
			kept := len(*connections) / 2
			result.Capture.Sandbox.ConnectionsMore += len(*connections) - kept
			*connections = (*connections)[:kept]
		case result.Capture.Writes != nil && len(result.Capture.Writes.List) > 0:
			kept, fewer := len(result.Capture.Writes.List)/2, *result.Capture.Writes
			fewer.More += len(fewer.List) - kept
			fewer.List = fewer.List[:kept]
			result.Capture.Writes = &fewer
		default:
			return nil
		}
	}
}

// execute runs the action of an allowed record and captures its output. It announces the start to
// observers.
func (p *pipe) execute(line *record.Line, action record.Action) record.Result {
	spec, err := specOf(line, p.sys.Environ)
	if err != nil {
		return p.denied(&sandbox.Refusal{Code: sandbox.CodeDeclaration, Err: err}, sandbox.NoEvidence())
	}
	spec.Explain, err = asks(line, "explain", p.explain)
	tree, faulty := asks(line, "tree", p.tree)
	err = errors.Join(err, faulty)
	if err != nil {
		return p.denied(&sandbox.Refusal{Code: sandbox.CodeDeclaration, Err: err, Hint: "write true or false"}, sandbox.NoEvidence())
	}
	spec.Recovered = p.takeRecovered()
	inOuter(&spec)
	var actor record.Actor
	if err := line.Decode("actor", &actor); err != nil {
		return p.denied(&sandbox.Refusal{Code: sandbox.CodeDeclaration, Err: err}, sandbox.NoEvidence())
	}
	plan, err := planOf(p.sys, spec, actor.Mode)
	if err != nil {
		return p.denied(err, sandbox.NoEvidence())
	}
	who, err := askerOf(line)
	defer remember(p.sys, reach(plan), writable(plan), plan.Dir, who, err)()
	p.write(record.NewStart(line.ID(), action))
	show := func(stream string, piece []byte) { p.write(record.NewOutput(line.ID(), stream, piece)) }
	var seen *watch
	if tree && plan.Backend != sandbox.Outer { // such a run proves nothing
		seen = watchTree(p.ctx, p.sys, plan, line.ID())
	}
	out, capture, err := sandbox.RunCaptured(p.ctx, plan, show)
	if err != nil {
		return p.denied(err, out.Evidence)
	}
	result := out.Result(capture)
	seen.end(&result)
	return result
}

// asks reports whether all records ask for something, or this one does. The member has no influence
// on decisions, so it is not part of what was decided.
func asks(line *record.Line, member string, all bool) (asked bool, err error) {
	if err = line.Decode(member, &asked); errors.Is(err, record.ErrAbsent) {
		err = nil
	}
	return asked || all, err
}

func (p *pipe) denied(err error, evidence record.Sandbox) record.Result {
	result := sandbox.DeniedBy(err, evidence)
	switch result.Reason {
	case sandbox.CodeSetup, sandbox.CodeVerify, sandbox.CodeRequire, sandbox.CodeUnsupported:
		p.note(&p.unable)
	}
	return result
}
