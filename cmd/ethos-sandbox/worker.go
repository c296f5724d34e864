package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/fileops"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

type workerCmd struct {
	boundary.Flags
	evidenceFlags
	sessionFlags
	PlainGit bool `help:"If this starts a session, leave git as it is: no policy on git commands inside."`
	Jobs     int  `short:"j" default:"4" placeholder:"N" help:"Carry out up to N requests at once."`
	MaxLine  int  `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
}

// waiting limits the pending requests. Beyond it no more are read.
const waiting = 64

func (*workerCmd) Schema() []byte { return fileops.Schema() }

// Run passes requests to a confined process and writes the answers to standard
// output. The status is 125 if that process ends before everything is answered,
// 124 if it does so at the time limit, else 3 after a line that is not a
// request, else 1 if a request failed.
func (c *workerCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Jobs < 1 {
		return cli.Errorf(cli.Usage, "-j 1 carries out one after the other", "-j %d is not a valid number of requests to carry out at once", c.Jobs)
	}
	given := c.Flags
	if c.Profile == "" {
		c.Profile = capability.AgentProfile
	}
	c.Untimed = true // it ends with its input
	if c.Session != "" {
		return c.join(ctx, sys, given)
	}
	spec, err := c.spec(sys)
	if err != nil {
		return err
	}
	plan, evidence, err := c.ready(ctx, sys, spec)
	if err != nil || plan == nil {
		return err
	}
	m := mission{Workspace: plan.Workspace, Dir: plan.Dir, Protected: protectedPaths(plan)}
	if plan.Argv[len(plan.Argv)-1], err = c.told(m); err != nil {
		return err
	}
	return c.relay(ctx, sys, place{evidence, plan.Limits.Timeout, plan.MostTime, func(ctx context.Context, io sandbox.IO) (sandbox.Outcome, error) {
		refusals := &refusals{sys: sys}
		io.Refused = refusals.tell
		out, err := sandbox.Run(ctx, plan, io)
		sandbox.Release()
		refusals.end()
		warnDenied(sys, plan, out)
		return out, err
	}})
}

// spec makes the spec for the confined process: this program again.
func (c *workerCmd) spec(sys *cli.System) (sandbox.Spec, error) {
	self, err := os.Executable()
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec, err := specNow(sys, &c.Flags, []string{self, insideWorker, ""})
	spec.Asked.ReadPaths = append(spec.Asked.ReadPaths, self)
	spec.NewSession = true
	return spec, err
}

// join runs the confined process in a session. It ends with this process.
func (c *workerCmd) join(ctx context.Context, sys *cli.System, given boundary.Flags) error {
	j := joining{word: c.Session, flags: c.Flags, given: given, plainGit: c.PlainGit, anyGit: true, evidence: &c.evidenceFlags}
	client, evidence, err := j.open(ctx, sys)
	if err != nil {
		return err
	}
	defer func() { client.Close() }()
	want, err := j.want(sys)
	if err != nil {
		return err
	}
	m, err := missionIn(sys, client.Hello.Name, want.Dir)
	if err != nil {
		return err
	}
	text, err := c.told(m)
	if err != nil {
		return err
	}
	want.Argv, want.Evidence = []string{record.InsideSandbox, insideWorker, text}, evidence != nil
	return c.relay(ctx, sys, place{evidence, want.Timeout, j.most, func(ctx context.Context, io sandbox.IO) (sandbox.Outcome, error) {
		want.In, want.Out, want.Err = io.Stdin, io.Stdout, io.Stderr
		exited, err := j.exec(ctx, sys, &client, want)
		warn(sys, exited.Denials)
		return outcome(client, exited), asRefusal(err)
	}})
}

// missionIn returns the mission of a process in a session, whose plan says what
// is protected.
func missionIn(sys *cli.System, name, dir string) (mission, error) {
	client, err := dialNamed(sys, name)
	if err != nil {
		return mission{}, err
	}
	defer client.Close()
	s, err := client.Status()
	return mission{Workspace: s.Workspace, Dir: dir, Protected: s.Protected}, err
}

// insideWorker is the command that the confined process runs.
const insideWorker = "worker-inside"

// told returns a mission with the flags' values, in the form passed to the
// confined process.
func (c *workerCmd) told(m mission) (string, error) {
	m.Jobs, m.MaxLine = c.Jobs, c.MaxLine
	text, err := json.Marshal(m)
	return string(text), err
}

// protectedPaths returns the paths that a plan lets nobody create.
func protectedPaths(plan *sandbox.Plan) (list []string) {
	for _, p := range plan.ProtectedNames {
		for _, name := range p.Names {
			list = append(list, strings.TrimSuffix(p.Dir, "/")+"/"+name)
		}
	}
	return list
}

// place is where the confined process runs: in a boundary of its own, or in a
// session.
type place struct {
	evidence io.WriteCloser
	limit    time.Duration // 0: none
	most     time.Duration // what the ceiling allows; 0: any
	run      func(context.Context, sandbox.IO) (sandbox.Outcome, error)
}

// relay serves until the input or the confined process ends.
func (c *workerCmd) relay(ctx context.Context, sys *cli.System, at place) error {
	inside, err := startWorker(ctx, sys, at)
	if err != nil {
		return err
	}
	sys.Waits("requests", "a program writes them, one JSON object a line: ethos-sandbox worker < REQUESTS")
	r := &relay{inside: inside, out: sys.Records(), under: map[string]string{}, slots: make(chan struct{}, waiting)}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.answers()
	}()
	err = r.requests(record.NewReader(record.Interruptible(inside.ctx, sys.Stdin), c.MaxLine))
	inside.requests.Close()
	<-inside.ctx.Done()
	<-answered
	lost := r.abandon()
	if fault := report(at.evidence, inside.outcome, inside.err, nil); fault != nil {
		sys.Warn(fmt.Sprintf("evidence: %v", fault), "the requests were carried out; their evidence is lost")
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case inside.err != nil:
		return refused(inside.err, cli.Refused)
	case r.fault != nil:
		return cli.Errorf(cli.Refused, "start it again", "%w", r.fault)
	case inside.outcome.Status == record.StatusTimeout:
		return cli.Errorf(cli.Timeout, sandbox.TimeHint(at.limit, at.most), "the worker: killed at the time limit of %v", at.limit)
	case lost > 0 || inside.outcome.Status != record.StatusExited || inside.outcome.ExitCode != 0:
		return cli.Errorf(cli.Refused, "start it again, and check what became of the requests that have the error worker_ended", "the confined process ended before its input did")
	case err != nil:
		return err
	case r.bad:
		return cli.Exit(cli.BadInput)
	case r.failed:
		return cli.Negative
	}
	return nil
}

// workerProcess is a process inside the boundary that answers requests.
type workerProcess struct {
	requests, answers *os.File
	ctx               context.Context // done when the process has ended and its outcome is known
	kill              context.CancelFunc
	outcome           sandbox.Outcome
	err               error
}

func startWorker(ctx context.Context, sys *cli.System, at place) (*workerProcess, error) {
	stderr, ok := sys.Stderr.(*os.File)
	if !ok {
		return nil, errors.New("standard error is not a descriptor")
	}
	stdin, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), requests.Close())
	}
	ctx, kill := context.WithCancel(ctx)
	done, over := context.WithCancel(context.Background())
	c := &workerProcess{requests: requests, answers: answers, ctx: done, kill: kill}
	go func() {
		defer over()
		defer kill()
		c.outcome, c.err = at.run(ctx, sandbox.IO{Stdin: stdin, Stdout: stdout, Stderr: stderr})
		stdin.Close() // writers of requests and readers of answers see the end
		stdout.Close()
	}()
	return c, nil
}

// relay passes lines between the caller and the confined process, and tracks
// the pending requests.
type relay struct {
	inside *workerProcess
	slots  chan struct{}

	mu          sync.Mutex
	out         io.Writer
	under       map[string]string // operation by request id
	bad, failed bool
	fault       error
}

// requests reads until the input or the confined process ends.
func (r *relay) requests(in *record.Reader) error {
	for {
		line, err := in.NextText()
		var request *fileops.Request
		if err == nil {
			request, err = fileops.Parse(line)
		}
		var bad *record.BadLine
		switch {
		case errors.As(err, &bad):
			r.refuse(fileops.BadLine(bad, in.LineNumber()))
			continue
		case errors.Is(err, io.EOF), r.inside.ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("read requests: %w", err)
		}
		if !r.note(request) {
			r.refuse(&fileops.Answer{Error: &fileops.Error{
				Code: fileops.CodeDuplicateID, Message: fmt.Sprintf("a request with the id %q is still running", request.ID), Line: in.LineNumber(), Hint: "give each request a unique id",
			}})
			continue
		}
		select {
		case r.slots <- struct{}{}:
		case <-r.inside.ctx.Done():
			return nil
		}
		if _, err := r.inside.requests.Write(append(line, '\n')); err != nil {
			return nil // the process has ended: abandon answers
		}
	}
}

// note registers a pending request. It returns false if its id is already in
// use.
func (r *relay) note(request *fileops.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.under[request.ID]; there {
		return false
	}
	r.under[request.ID] = request.Op
	return true
}

// refuse answers a line that is not a request.
func (r *relay) refuse(a *fileops.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bad = true
	r.write(a)
}

// answers passes on answers until the confined process ends. The process is not
// trusted to answer what was asked: if it does not, it is killed.
func (r *relay) answers() {
	in := record.NewReader(r.inside.answers, 0)
	for {
		line, err := in.NextText()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = r.answer(line)
		}
		if err != nil {
			r.mu.Lock()
			r.fault = errors.Join(r.fault, fmt.Errorf("answer of the confined process: %w", err))
			r.mu.Unlock()
			r.inside.kill()
			return
		}
	}
}

func (r *relay) answer(line []byte) error {
	a, err := fileops.ParseAnswer(line)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.under[a.ID]; !there {
		return errors.New("no request asked for it")
	}
	delete(r.under, a.ID)
	<-r.slots
	r.failed = r.failed || a.Error != nil
	r.write(a)
	return r.fault
}

// abandon answers the requests that the confined process has not answered, and
// returns their number.
func (r *relay) abandon() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, op := range r.under {
		r.write(&fileops.Answer{ID: id, Error: &fileops.Error{
			Code: fileops.CodeWorkerEnded, Op: op, Message: "the confined process ended before it answered", Hint: "it may have been carried out: check before you send it again",
		}})
	}
	return len(r.under)
}

func (r *relay) write(a *fileops.Answer) {
	line, err := json.Marshal(a)
	if err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if err != nil && r.fault == nil {
		r.fault = fmt.Errorf("write answers: %w", err)
		r.inside.kill()
	}
}

// mission is what the confined process is told.
type mission struct {
	Workspace string   `json:"workspace"`
	Dir       string   `json:"dir"`
	Protected []string `json:"protected"`
	Jobs      int      `json:"jobs"`
	MaxLine   int      `json:"max_line"`
}

// insideWorkerCmd is the confined process that worker starts.
type insideWorkerCmd struct {
	Mission string `arg:""`
}

// Run serves the requests on standard input.
func (c *insideWorkerCmd) Run(ctx context.Context, sys *cli.System) error {
	var m mission
	if err := json.Unmarshal([]byte(c.Mission), &m); err != nil {
		return err
	}
	tree, err := fileops.Open(m.Workspace, m.Dir, m.Protected)
	if err != nil {
		return err
	}
	defer tree.Close()
	return fileops.Serve(ctx, tree, sys.Stdin, sys.Stdout, m.MaxLine, m.Jobs)
}
