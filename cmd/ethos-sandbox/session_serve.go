package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/session"
	"ethos/pkg/timerslack"
)

// startLimit is the time limit for starting a session, including a start by
// another process. It is longer than that for a boundary.
const startLimit = 40 * time.Second

// startSession returns when a session with this name and this request is
// running. If it is this process that started it, and the session before ended by
// itself, it warns, and returns when and why that one ended.
func startSession(ctx context.Context, sys *cli.System, name string, a asked, idle time.Duration) (before string, err error) {
	if err := namedInUTF8("session "+name, a.Dir, a.Flags.Workspace); err != nil {
		return "", err
	}
	registry := session.Open(sys.Getenv)
	for end := time.Now().Add(startLimit); ; time.Sleep(10 * time.Millisecond) {
		client, err := registry.Dial(name)
		if err == nil {
			defer client.Close()
			return "", sameAsked(sys, client, a)
		}
		if !errors.Is(err, session.ErrNone) {
			return "", cli.Errorf(cli.Refused, "ethos-sandbox session list shows what runs", "%w", err)
		}
		lock, err := registry.Lock(name)
		if err == nil {
			before := endedBefore(registry, name) // nobody else starts it now, and the supervisor forgets it
			err := supervise(ctx, sys, lock, order{Name: name, Asked: a, Idle: idle})
			if err == nil && before != "" {
				sys.Warn("session "+name+" was started again: "+before, "what ran in it has ended: start what is still needed again")
			}
			return before, err
		}
		if !errors.Is(err, session.ErrBusy) {
			return "", cli.Errorf(cli.Refused, unlocked(err), "session %s: %w", name, err)
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if time.Now().After(end) {
			return "", cli.Errorf(cli.Refused, "another process kept starting or ending it; choose another name", "session %s did not start within %v", name, startLimit)
		}
	}
}

// unlocked returns the remedy if the folder of sessions is not available.
func unlocked(err error) string {
	if errors.Is(err, syscall.EROFS) {
		return sandbox.OtherSandboxHint
	}
	return "make sure that only you can access the runtime directory ($XDG_RUNTIME_DIR) and ethos's state folder"
}

// sameAsked refuses a session that was requested differently.
func sameAsked(sys *cli.System, client *session.Client, a asked) error {
	spec, err := a.spec(sys.Environ)
	if err != nil {
		return err
	}
	if spec.Digest(sandbox.HostFiles{}) != client.Hello.Digest || a.PlainGit == client.Hello.Managed {
		return notTheSame(client.Hello.Name)
	}
	return observes(client, a.Explain)
}

// observes refuses a session whose commands are not observed, if observation is
// requested. An observed session also serves requests without it.
func observes(client *session.Client, wanted bool) error {
	if !wanted {
		return nil
	}
	var have asked
	if err := session.Unmarshal(client.Hello.Asked, &have); err != nil || have.Explain {
		return err
	}
	name := client.Hello.Name
	return cli.Errorf(cli.Refused, "end it and start it with --explain, because filters are set when it starts; without --explain, refusals are inferred when a command fails",
		"--explain: session %s does not observe its commands", name)
}

// notTheSame says that a session does not match the request.
func notTheSame(name string) error {
	return cli.Errorf(cli.Refused, "ethos-sandbox session show "+name+" shows what it has; a command can have less with --net none, --deny-write, --deny-read, --ro of what the session writes, or a narrower --profile; else omit the flags, use another name, or end it: ethos-sandbox session end "+name,
		"the flags ask for something that session %s does not have", name)
}

// spec returns the spec for the request, for a caller with an environment.
func (a *asked) spec(environ []string) (sandbox.Spec, error) {
	spec, err := a.Flags.Spec(sandbox.HostFiles{}, a.Dir, environ, nil)
	if err != nil {
		return spec, cli.Errorf(cli.Refused, "ethos-sandbox session start --help shows the flags", "%w", err)
	}
	if a.Parent == nil {
		return spec, nil
	}
	parent, err := a.Parent.spec(environ)
	if err != nil {
		return spec, err
	}
	if spec.Workspace != parent.Workspace {
		return spec, cli.Errorf(cli.Refused, "start it in "+parent.Workspace+", or without --parent", "the work space %s is not the one of --parent", spec.Workspace)
	}
	if a.PlainGit && !a.Parent.PlainGit {
		return spec, cli.Errorf(cli.Refused, "omit --plain-git", "the session of --parent has managed git")
	}
	space := capability.Space{Workspace: spec.Workspace, Home: a.Home}
	spec.Asked = capability.Within(space, &parent.Asked, &spec.Asked)
	spec.Require = append(spec.Require, parent.Require...)
	return spec, nil
}

// order is what a supervisor is told to do.
type order struct {
	Name  string
	Asked asked
	Idle  time.Duration
}

// answer is the supervisor's report that the session runs, or why it does not.
type answer struct {
	Status  cli.Status // 0: it runs
	Message string
	Hint    string
	Left    []record.Denial // quarantined from runs that were killed
}

// The descriptors of a supervisor, in addition to the standard ones.
const (
	orderFD = iota + 3
	answerFD
	folderFD
	lockFD
)

// supervise starts the supervisor of a session and waits for its answer. The
// supervisor is a separate process in a session of its own, so that the end of
// this process or of its terminal does not affect it.
func supervise(ctx context.Context, sys *cli.System, lock *session.Lock, o order) error {
	text, err := json.Marshal(o)
	program, err0 := supervisor()
	if err := errors.Join(err, err0); err != nil {
		lock.Release()
		return err
	}
	orders, orderEnd, err1 := os.Pipe()
	answers, answerEnd, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	cmd := exec.Command(program, "session", "serve", o.Name)
	cmd.Args[0], cmd.Env = os.Args[0], sys.Environ
	cmd.ExtraFiles = []*os.File{orders, answerEnd, lock.Folder, lock.File}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := timerslack.Start(cmd.Start); err != nil {
		lock.Release()
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "install " + whole + " beside " + sys.Name + ", as make install does"
		}
		return cli.Errorf(cli.Refused, hint, "supervisor of session %s: %w", o.Name, err)
	}
	lock.Hand()
	orders.Close()
	answerEnd.Close()
	go func() {
		_, _ = orderEnd.Write(text) // a supervisor that is gone does not answer
		orderEnd.Close()
	}()
	stop := context.AfterFunc(ctx, func() { answers.Close() }) // it then has nobody to answer, and ends
	defer stop()
	var a answer
	if err := json.NewDecoder(bufio.NewReader(answers)).Decode(&a); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return cli.Errorf(cli.Refused, "it may have run out of memory, or have been killed", "session %s: its supervisor ended before it answered", o.Name)
	}
	warn(sys, a.Left)
	if a.Status != cli.OK {
		return &cli.Error{Status: a.Status, Err: errors.New(a.Message), Hint: a.Hint}
	}
	return nil
}

type sessionServeCmd struct {
	Name string `arg:"" help:"The session, for those who look at the list of processes."`
}

// Run is the supervisor of a session: it holds the boundary until the end.
func (*sessionServeCmd) Run(ctx context.Context, sys *cli.System) error {
	files := [4]*os.File{}
	for i := range files {
		files[i] = os.NewFile(uintptr(orderFD+i), "inherited")
		syscall.CloseOnExec(orderFD + i)
	}
	var o order
	text, err := io.ReadAll(files[0])
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		return cli.Errorf(cli.Usage, "ethos-sandbox session start starts a session", "session serve is an internal command of ethos-sandbox")
	}
	files[0].Close()
	_ = os.WriteFile("/proc/self/comm", []byte("ethos-session"), 0) // its name is "exe", which tells nobody anything
	lock, err := session.Adopt(o.Name, files[2], files[3])
	if err != nil {
		return err
	}
	tell := func(a answer) error {
		defer files[1].Close()
		return json.NewEncoder(files[1]).Encode(a)
	}
	if err := serve(ctx, sys, lock, o, tell); err != nil {
		lock.Release()
		fault := &cli.Error{Status: cli.Refused, Err: err}
		errors.As(err, &fault)
		return tell(answer{Status: fault.Status, Message: err.Error(), Hint: fault.Hint})
	}
	return nil
}

// command returns the spec of a command in the session, for its own flags and
// its client's environment.
func (a *asked) command(own *boundary.Flags, environ []string) (sandbox.Spec, error) {
	whole := *a
	whole.Flags = a.with(own)
	return whole.spec(withHome(environ, a.Home))
}

// withHome returns the environment of a client in the home directory of its session.
func withHome(environ []string, home string) []string {
	return slices.Concat(environ, []string{"HOME=" + home})
}

// specs returns the spec of the session, and that of a command in it without
// flags.
func (a *asked) specs(sys *cli.System) (spec, plain sandbox.Spec, err error) {
	if spec, err = a.spec(sys.Environ); err != nil {
		return spec, plain, err
	}
	spec.Explain = a.Explain
	if spec.Program, err = selfPath(); err != nil {
		return spec, plain, err
	}
	if !a.PlainGit {
		if spec.Managed, err = managedGit(sys, spec.Workspace); err != nil {
			return spec, plain, err
		}
	}
	plain, err = a.command(&boundary.Flags{}, nil)
	return spec, plain, err
}

// serve holds a session until its end. It calls tell to answer the process that
// started it.
func serve(ctx context.Context, sys *cli.System, lock *session.Lock, o order, tell func(answer) error) error {
	spec, plain, err := o.Asked.specs(sys)
	if err != nil {
		return err
	}
	left := sandbox.Recover(ctx, sys.Environ)
	spec.Recovered = left
	plan, err := build(sys, spec, cli.Refused)
	if err != nil {
		return err
	}
	made, err := sandbox.MakeOwn(plan)
	if err == nil && made {
		plan, err = planOf(sys, spec, "")
	}
	if err != nil {
		return refused(err, cli.Refused)
	}
	plan.Limits.Timeout = 0 // applies to each command
	text := plan.Text()
	asked, err := session.Marshal(o.Asked)
	if err != nil {
		return err
	}
	server := &session.Server{
		PlainTime: timeLimit(&plain),
		Hello:     session.Hello{Name: o.Name, Digest: spec.Digest(sandbox.HostFiles{}), Managed: !o.Asked.PlainGit, Asked: asked, MostTime: plan.MostTime},
		Static:    session.Status{Workspace: plan.Workspace, Profile: plan.Profile, Plan: text, Protected: protectedPaths(plan), Idle: session.Duration(o.Idle)},
	}
	var who *asker
	if reach(plan) != "" {
		who = &asker{agent: "session " + o.Name}
	}
	defer remember(sys, reach(plan), writable(plan), plan.Dir, who, nil)()
	inside, err := sandbox.Start(ctx, plan, sandbox.IO{Refused: server.Refused})
	if err != nil {
		return refused(err, cli.Refused)
	}
	_ = os.Chdir("/") // it would otherwise keep its start directory busy
	boundary := &confined{Session: inside, plain: plain, home: o.Asked.Home, name: o.Name, calls: callServers{registry: session.Open(sys.Getenv)}}
	defer boundary.calls.end()
	boundary.first(left) // reported at the start
	server.Boundary = boundary
	ctx, end := context.WithCancel(ctx)
	defer end()
	_, err = server.Serve(ctx, lock, func() {
		if tell(answer{Left: left}) != nil { // nobody waits for it
			end()
		}
		go boundary.calls.take()
	})
	sandbox.Release()
	return err
}
