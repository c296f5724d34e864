package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"ethos/cmd/ethos-sandbox/early"
	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/session"
	"ethos/pkg/session/dial"
)

// sessionFlags are the flags of commands that can run in a session.
type sessionFlags struct {
	Session sessionWord `placeholder:"NAME" help:"Run in this session; auto:NAME starts the session if it does not run. --memory, --cpu and --pids then limit this command within it."`
	Record  string      `placeholder:"ID" help:"Add the result to the record with this id, which an agent's hook has put into the store."`
}

// sessionWord is NAME or, where a session may be started, auto:NAME; the zero value is none.
type sessionWord string

// UnmarshalText rejects an empty word, from an unset variable, which would mean no session.
func (w *sessionWord) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("the name of a session is empty")
	}
	*w = sessionWord(text)
	return nil
}

// joining is a command that is to run in a session.
type joining struct {
	word     sessionWord
	flags    boundary.Flags // as given, plus the command's defaults
	given    boundary.Flags // as given
	plainGit bool           // git may run without policy
	anyGit   bool           // it runs no git
	argv     []string
	evidence *evidenceFlags
	asked    asked         // how the session was requested; set once it is joined
	most     time.Duration // the session's time limit for each command; 0: none
	spec     sandbox.Spec
	said     sandbox.Tail
	narrow   sandbox.Narrow
	limits   session.Limits // of this command alone
	profile  string         // the profile that narrow comes from, "" for none
	less     *sandbox.Spec  // what is left of the session, with a profile or a boundary of its own
	apart    bool           // the command gets a boundary of its own, with less
	// resumed says for the record that the session was started again, and why the one before ended.
	resumed []record.Denial
}

// run runs the command with this process's own streams.
func (j *joining) run(ctx context.Context, sys *cli.System) error {
	if sandbox.OnlyOuter() {
		return cli.Errorf(cli.Refused, sandbox.OuterHint, "not available in the boundary of another ethos-sandbox: --session")
	}
	caught := catch()
	client, evidence, err := j.open(ctx, sys)
	if err != nil {
		return err
	}
	defer func() { client.Close() }()
	want, err := j.want(sys)
	if err != nil {
		return err
	}
	if j.apart {
		client.Close()
		j.evidence.narrowed = []string{"everything of session " + client.Hello.Name + ": it ran in a boundary of its own"}
		return j.runApart(ctx, sys, evidence, caught, want)
	}
	own, err := streams(sys)
	if err != nil {
		return err
	}
	want.In, want.Out, want.Err, want.Said = own.Stdin, own.Stdout, own.Stderr, &j.said
	want.Evidence, want.Signals = evidence != nil, caught
	if err := ctx.Err(); err != nil { // a signal came before it could be passed on; a command that runs ends with the connection
		return err
	}
	who, fault := j.evidence.asker()
	defer remember(sys, "", []string{j.spec.Workspace}, j.spec.Dir, who, fault)() // the supervisor registers what the session can reach
	exited, err := j.exec(context.WithoutCancel(ctx), sys, &client, want)
	if err == nil {
		exited.Denials = append(exited.Denials, j.explain(exited)...)
	}
	if fault := reported(evidence, caught, func() error { return report(evidence, outcome(client, exited), asRefusal(err), nil) }); fault != nil {
		sys.Warn("evidence: "+fault.Error(), "the command ran; its evidence is lost")
	}
	if err != nil {
		return refused(asRefusal(err), cli.Refused)
	}
	warn(sys, j.waysOut(exited.Denials))
	if exited.Unheld != "" {
		warnUnheld(sys, j.limits.CPUPercent, exited.Unheld)
	}
	return endedInside(want, exited, j.most)
}

// runApart runs the command in a boundary of its own. It shares nothing with the session, and has
// no more than the session has.
func (j *joining) runApart(ctx context.Context, sys *cli.System, evidence io.WriteCloser, signals <-chan os.Signal, w session.Want) error {
	e, spec := j.evidence, *j.less
	if err := handOver(ctx, sys, &spec); err != nil {
		return err
	}
	spec.Argv, spec.Dir, spec.Timeout = w.Argv, w.Dir, cmp.Or(w.Timeout, capability.NoTimeout)
	spec.Explain, spec.Recovered = e.Explain, recoverRuns(ctx, sys)
	if e.Evidence != "" {
		e.asked = askedOfRun(sys, &spec)
	}
	var plan *sandbox.Plan
	var err error
	if !j.asked.PlainGit {
		spec.Managed, err = managedGit(sys, spec.Workspace)
	}
	if err == nil {
		plan, err = build(sys, spec, cli.Refused)
	}
	if err != nil {
		return errors.Join(err, report(evidence, sandbox.Outcome{Evidence: sandbox.NoEvidence()}, err, nil))
	}
	who, fault := e.asker()
	defer remember(sys, reach(plan), writable(plan), plan.Dir, who, fault)()
	return e.pass(ctx, sys, plan, evidence, signals, nil)
}

// open opens the destination of the evidence, and joins the session.
func (j *joining) open(ctx context.Context, sys *cli.System) (*session.Client, io.WriteCloser, error) {
	if j.evidence.DryRun {
		return nil, nil, cli.Errorf(cli.Refused, "ethos-sandbox session show shows the plan of a session", "--dry-run cannot be used with --session")
	}
	evidence, err := j.evidence.open(ctx)
	if err != nil {
		return nil, nil, cli.Errorf(cli.Refused, "name a writable file, or fd:N of an open descriptor", "evidence: %w", err)
	}
	client, err := j.join(ctx, sys)
	return client, evidence, err
}

// exec runs the command in the session, or in a session that replaces it; it then updates client.
// The command ends with ctx.
func (j *joining) exec(ctx context.Context, sys *cli.System, client **session.Client, w session.Want) (session.Exited, error) {
	refusals := &refusals{sys: sys}
	w.Refused = refusals.tell
	defer refusals.end()
	once := func() (session.Exited, error) {
		joined := *client
		stop := context.AfterFunc(ctx, func() { joined.Close() })
		defer stop()
		return joined.Run(w)
	}
	exited, err := once()
	if fault := (*session.Fault)(nil); errors.As(err, &fault) && fault.Code == sandbox.CodeStale {
		(*client).Close()
		next, failed := j.renew(ctx, sys, fault)
		if failed != nil {
			return exited, failed
		}
		*client = next
		exited, err = once()
	}
	exited.Denials = append(exited.Denials, j.resumed...)
	if err == nil && exited.Fault != nil {
		err = exited.Fault
	}
	return exited, err
}

// join connects to the session. It starts the session if that is requested.
func (j *joining) join(ctx context.Context, sys *cli.System) (*session.Client, error) {
	name, start, err := dial.Wanted(string(j.word))
	if err != nil {
		return nil, cli.Errorf(cli.Refused, "use --session NAME or --session auto:NAME", "%w", err)
	}
	registry := session.Open(sys.Getenv)
	client, err := j.dial(registry, name)
	if errors.Is(err, session.ErrNone) && start {
		asked := askedFor(sys, ptr(bounds(&j.flags)), j.plainGit)
		asked.Explain = j.evidence.Explain
		before, failed := startSession(ctx, sys, name, asked, defaultIdle)
		if failed != nil {
			return nil, failed
		}
		if before != "" {
			j.resumed = []record.Denial{{Layer: "session", What: "session " + name + " was started again", Reason: before}}
		}
		client, err = registry.Dial(name)
	}
	switch {
	case errors.Is(err, session.ErrNone):
		return nil, cli.Errorf(cli.Refused, "ethos-sandbox session start --name "+name+" starts it, and --session auto:"+name+" starts it when needed", "%s", notRunning(sys, "session "+name, name))
	case errors.As(err, new(*session.OtherRelease)):
		return nil, cli.Errorf(cli.Refused, "ethos-sandbox session end "+name+" ends it; then start it again", "%w", err)
	case err != nil:
		return nil, cli.Errorf(cli.Refused, "ethos-sandbox session list shows what runs", "%w", err)
	}
	j.most = client.Hello.MostTime
	if err = session.Unmarshal(client.Hello.Asked, &j.asked); err == nil {
		err = j.fits(sys, client)
	}
	if err == nil {
		err = observes(client, j.evidence.Explain)
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// dial connects to the session, or takes over the connection on which the
// command was requested early.
func (j *joining) dial(registry *session.Registry, name string) (*session.Client, error) {
	if sent := early.Take(); sent != nil {
		return session.Join(sent)
	}
	return registry.Dial(name)
}

func ptr[T any](v T) *T { return &v }

// defaultIdle is the --idle value of a session that is started on demand.
const defaultIdle = 30 * time.Minute

// renew joins the session that replaces one that ended because it no longer matched the file
// system. If that was not requested, it returns the reason.
func (j *joining) renew(ctx context.Context, sys *cli.System, stale *session.Fault) (*session.Client, error) {
	name, start, err := dial.Wanted(string(j.word))
	if err != nil || !start {
		return nil, stale
	}
	for end := time.Now().Add(startLimit); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		client, err := session.Open(sys.Getenv).Dial(name)
		if errors.Is(err, session.ErrNone) {
			return j.join(ctx, sys)
		}
		if err == nil {
			client.Close()
		}
	}
	return nil, stale
}

// fits refuses a session that does not match the command line. The workspace is the session's,
// wherever in it the command begins.
func (j *joining) fits(sys *cli.System, client *session.Client) error {
	name := client.Hello.Name
	if !j.plainGit && !j.anyGit && !client.Hello.Managed {
		return cli.Errorf(cli.Refused, "accept that with --plain-git, or start a session without --plain-git", "session %s has plain git: no policy on git commands", name)
	}
	var err error
	if j.limits, err = ownLimits(sys, &j.given, &j.asked); err != nil {
		return err
	}
	given := shared(&j.given, &j.asked)
	if theirs := j.asked.Flags.WorkspaceOf(sandbox.HostFiles{}, j.asked.Dir); given.Workspace != "" && given.WorkspaceOf(sandbox.HostFiles{}, sys.Dir) != theirs {
		return cli.Errorf(cli.Refused, "omit --workspace, or start another session", "session %s has the work space %s", name, theirs)
	}
	if given.Workspace = ""; given.None() {
		return nil
	}
	flags := shared(&j.flags, &j.asked)
	flags.Memory, flags.CPU, flags.Pids = j.asked.Flags.Memory, j.asked.Flags.CPU, j.asked.Flags.Pids
	mine := askedFor(sys, &flags, j.plainGit)
	mine.Parent = j.asked.Parent
	spec, err := mine.spec(sys.Environ)
	if err != nil {
		return err
	}
	theirs, err := j.asked.spec(sys.Environ)
	if err != nil {
		return err
	}
	if spec.Workspace = theirs.Workspace; spec.Digest(sandbox.HostFiles{}) != client.Hello.Digest {
		return j.narrows(sys, name, theirs)
	}
	return nil
}

// want returns the command for the session, without its streams. Its environment is made as for a
// run, from the session's and this process's own.
func (j *joining) want(sys *cli.System) (w session.Want, err error) {
	if j.asked.Parent != nil && len(j.flags.Env) > 0 {
		return w, cli.Errorf(cli.Refused, "pass --env to session start, for the parent session too", "--env cannot be used in a session that has a --parent")
	}
	spec, err := j.asked.command(&j.flags, sys.Environ)
	if err != nil {
		return w, err
	}
	j.spec = spec
	if j.less != nil { // the profile's variables and time limit, and only what both pass on
		spec.Asked = j.less.Asked
	}
	env, err := sandbox.Environment(spec, sandbox.HostFiles{})
	if err != nil {
		return w, refused(err, cli.Refused)
	}
	dir, err := filepath.EvalSymlinks(sys.Dir) // the links may not exist inside
	if err != nil {
		return w, cli.Errorf(cli.Refused, "start it in a directory that exists", "working directory: %w", err)
	}
	j.spec.Dir, j.spec.Argv = dir, j.argv
	limit := timeLimit(&spec)
	if j.most > 0 && (limit == 0 || limit > j.most) { // the session enforces it, too
		if j.given.Timeout != "" {
			return w, cli.Errorf(cli.Refused, "use a shorter --timeout, or ask the administrator of this machine to change "+ceiling.Dir, "%s: timeout_seconds: --timeout %s is more than %v", ceiling.Dir, j.given.Timeout, j.most)
		}
		limit = j.most
	}
	return session.Want{
		Argv: j.argv, Env: env, Dir: dir, Timeout: limit,
		NoNetwork: j.narrow.NoNetwork, DenyWrite: j.narrow.DenyWrite, DenyRead: j.narrow.DenyRead, Profile: j.profile, Limits: j.limits,
	}, nil
}

// timeLimit returns the time limit of a spec as in its plan; 0 is none.
func timeLimit(s *sandbox.Spec) time.Duration {
	if s.Timeout != 0 {
		return max(0, s.Timeout)
	}
	whole := s.Whole()
	return time.Duration(whole.TimeoutSeconds) * time.Second
}

// asRefusal converts the reason why nothing ran to the form of package sandbox.
func asRefusal(err error) error {
	var fault *session.Fault
	if errors.As(err, &fault) {
		return &sandbox.Refusal{Code: fault.Code, Err: errors.New(fault.Message), Hint: fault.Hint}
	}
	return err
}
