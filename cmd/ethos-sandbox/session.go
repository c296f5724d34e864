package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/quantity"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/session"
	"ethos/pkg/session/dial"
)

type sessionCmd struct {
	Start   sessionStartCmd   `cmd:"" help:"Start a session: one boundary for several commands. Prints its name."`
	List    sessionListCmd    `cmd:"" help:"List the running sessions."`
	Show    sessionShowCmd    `cmd:"" help:"Show a session: its commands, what is alive inside, and its plan."`
	Logs    sessionLogsCmd    `cmd:"" help:"Show the latest output of commands in the background."`
	Publish sessionPublishCmd `cmd:"" help:"Let the host reach a port of a session. Prints the address."`
	End     sessionEndCmd     `cmd:"" help:"End sessions, with everything that runs inside."`
	Serve   sessionServeCmd   `cmd:"" hidden:"" help:"What session start runs."`
}

type sessionStartCmd struct {
	boundary.Flags
	Name     string      `placeholder:"NAME" help:"Name of the session. Default: a generated name."`
	Parent   sessionWord `placeholder:"NAME" help:"Limit the session to what this one has, for an agent that another agent starts."`
	Idle     string      `placeholder:"DURATION" default:"30m" help:"End the session when no command has run in it for this long; 0: never."`
	PlainGit bool        `help:"Leave git as it is: no policy on git commands inside."`
	Explain  bool        `help:"Observe what each command asks for by name; report what it could not get inside, and what would allow it."`
}

// Kind says that a failure has the status of a command that did not run.
func (*sessionStartCmd) Kind() cli.Kind { return cli.Runner }

// Run starts the session unless it is running.
func (c *sessionStartCmd) Run(ctx context.Context, sys *cli.System) error {
	name := cmp.Or(c.Name, session.NewName())
	if err := dial.CheckName(name); err != nil {
		return cli.Errorf(cli.Refused, "choose another name with --name", "%w", err)
	}
	idle, err := time.Duration(0), error(nil)
	if c.Idle != "0" {
		idle, err = quantity.ParseDuration(c.Idle)
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "write a duration such as 90s or 30m, or 0 for never", "--idle: %w", err)
	}
	asked := askedFor(sys, &c.Flags, c.PlainGit)
	asked.Explain = c.Explain
	if asked.Parent, err = askedOf(sys, string(c.Parent)); err != nil {
		return err
	}
	if _, err := startSession(ctx, sys, name, asked, idle); err != nil {
		return err
	}
	return sys.Printf("%s\n", name)
}

type sessionListCmd struct {
	JSON bool `name:"json" help:"One JSON object for each session, in an array."`
}

// Run lists the sessions. It reports a session that does not answer and lists
// the others.
func (c *sessionListCmd) Run(_ context.Context, sys *cli.System) error {
	all, err := statuses(sys)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(sys.Records())
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	if len(all) == 0 {
		return nil
	}
	widest := 20
	for _, s := range all {
		widest = max(widest, len(s.Name))
	}
	line := "%-" + fmt.Sprint(widest) + "s %-20s %-8s %-9s %-20s %-19s %s\n"
	if err := sys.Printf(line, "NAME", "SINCE", "COMMANDS", "PROCESSES", "LAST USED", "PLAN", "WORK SPACE"); err != nil {
		return err
	}
	for _, s := range all {
		if err := sys.Printf(line, s.Name, moment(s.Since), fmt.Sprint(len(s.Commands)), fmt.Sprint(len(s.Processes)), moment(s.Used), short(s.Digest), s.Workspace); err != nil {
			return err
		}
	}
	return nil
}

func statuses(sys *cli.System) ([]session.Status, error) {
	all := []session.Status{}
	registry := session.Open(sys.Getenv)
	names, err := registry.Names()
	for _, name := range names {
		client, err := registry.Dial(name)
		if errors.Is(err, session.ErrNone) { // it is being started, or has just ended
			continue
		}
		var status session.Status
		if err == nil {
			status, err = client.Status()
			client.Close()
		}
		if err != nil {
			sys.Warn(err.Error(), "")
			continue
		}
		all = append(all, status)
	}
	return all, err
}

func moment(t time.Time) string { return t.Local().Format(time.DateTime) }

// short returns the beginning of a digest, enough for comparison by eye.
func short(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] }

type sessionShowCmd struct {
	Name string `arg:"" help:"The session."`
}

func (c *sessionShowCmd) Run(_ context.Context, sys *cli.System) error {
	client, err := dialNamed(sys, c.Name)
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := client.Status()
	if err != nil {
		return cli.Errorf(cli.Refused, "", "%w", err)
	}
	idle := "never"
	if s.Idle > 0 {
		idle = "after " + time.Duration(s.Idle).String() + " without a command"
	}
	var b strings.Builder
	for _, line := range [][2]string{
		{"session", s.Name}, {"work space", s.Workspace}, {"profile", s.Profile}, {"plan", s.Digest}, {"supervisor", fmt.Sprint(s.PID)},
		{"since", moment(s.Since)}, {"last used", moment(s.Used)}, {"ends", idle},
	} {
		b.WriteString(printable.Sprintf("%-12s %s\n", line[0], line[1]))
	}
	for _, p := range s.Published {
		b.WriteString(printable.Sprintf("%-12s %s\n", "publishes", p))
	}
	b.WriteString("\ncommands\n")
	for _, command := range s.Commands {
		b.WriteString(printable.Sprintf("  %d  %s  %s%s\n", command.PID, moment(command.Since), commandText(command.Argv), limitsText(command.Limits)))
	}
	b.WriteString("\nprocesses, by their numbers outside and inside\n")
	for _, p := range s.Processes {
		b.WriteString(printable.Sprintf("  %d  %d  %s\n", p.PID, p.Inside, p.Line))
	}
	return sys.Print(b.String() + "\n" + s.Plan)
}

// limitsText returns the limits of a command's own, to be put after it.
func limitsText(l session.Limits) string {
	own := plan.Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}
	if own == (plan.Limits{}) {
		return ""
	}
	return "  (" + own.Text() + ")"
}

func commandText(argv []string) string { return strings.Join(argv, " ") }

type sessionLogsCmd struct {
	Name string `arg:"" help:"The session."`
}

func (c *sessionLogsCmd) Run(_ context.Context, sys *cli.System) error {
	client, err := dialNamed(sys, c.Name)
	if err != nil {
		return err
	}
	defer client.Close()
	logs, err := client.Logs()
	if err != nil {
		return cli.Errorf(cli.Refused, "", "%w", err)
	}
	for _, l := range logs {
		lost := ""
		if l.Lost > 0 {
			lost = fmt.Sprintf("  (%d earlier bytes were not kept)", l.Lost)
		}
		head := printable.Sprintf("== %s  %s%s\n", moment(l.Since), commandText(l.Argv), lost)
		text := ""
		for line := range strings.Lines(string(l.Text)) {
			text += "  " + strings.TrimSuffix(line, "\n") + "\n" // no output looks like a heading
		}
		if err := sys.Print(head + text); err != nil {
			return err
		}
	}
	return nil
}

type sessionPublishCmd struct {
	Name string `arg:"" help:"The session."`
	Port string `arg:"" help:"[ADDRESS:]HOSTPORT:PORT, such as 8080:5173, or one PORT for both. Default address: 127.0.0.1."`

	PublishAny bool `help:"Allow an address that other machines can reach."`
}

// Run publishes a port until the session ends.
func (c *sessionPublishCmd) Run(_ context.Context, sys *cli.System) error {
	if _, malformed := plan.ParsePublished(c.Port); malformed != nil {
		return cli.Errorf(cli.Usage, malformed.Hint, "%w", malformed)
	}
	client, err := dialNamed(sys, c.Name)
	if err != nil {
		return err
	}
	defer client.Close()
	host, err := client.Publish(c.Port, c.PublishAny)
	var fault *session.Fault
	if errors.As(err, &fault) {
		return cli.Errorf(cli.Refused, fault.Hint, "%w", err)
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "", "%w", err)
	}
	return sys.Printf("%s\n", host)
}

// dialNamed connects to a session, which must be running.
func dialNamed(sys *cli.System, name string) (*session.Client, error) {
	client, err := session.Open(sys.Getenv).Dial(name)
	if errors.Is(err, session.ErrNone) {
		return nil, cli.Errorf(cli.Refused, running(sys), "%s", notRunning(sys, "session "+name, name))
	}
	if err != nil {
		return nil, cli.Errorf(cli.Refused, "", "%w", err)
	}
	return client, nil
}

// notRunning says that a session is not running, and why it ended if it did so by
// itself.
func notRunning(sys *cli.System, what, name string) string {
	text := what + " is not running"
	if before := endedBefore(session.Open(sys.Getenv), name); before != "" {
		text += "; " + before
	}
	return text
}

// endedBefore says when and why the last session with a name ended, or returns ""
// if somebody ended it.
func endedBefore(registry *session.Registry, name string) string {
	at, why := registry.Ended(name)
	if why == "" {
		return ""
	}
	return "it ended at " + at.Format(time.DateTime) + ": " + because(why)
}

func running(sys *cli.System) string {
	names, err := session.Open(sys.Getenv).Names()
	if err != nil || len(names) == 0 {
		return "no session is running; ethos-sandbox session start --name NAME starts one"
	}
	return "running sessions: " + strings.Join(names[:min(len(names), maxNames)], " ")
}

// maxNames limits the names in a hint.
const maxNames = 10

// asked is how a session was requested.
type asked struct {
	Flags    boundary.Flags
	Dir      string // that paths in the flags are relative to
	Home     string
	PlainGit bool
	Explain  bool   // its commands are observed
	Parent   *asked // the limits that it must stay within; nil: none
}

// askedOf returns how the session given as a parent was requested, or nil for
// no name.
func askedOf(sys *cli.System, name string) (*asked, error) {
	if name == "" {
		return nil, nil
	}
	client, err := session.Open(sys.Getenv).Dial(name)
	if errors.Is(err, session.ErrNone) {
		return nil, cli.Errorf(cli.Refused, running(sys), "%s", notRunning(sys, "session "+name+" of --parent", name))
	}
	if err != nil {
		return nil, cli.Errorf(cli.Refused, "ethos-sandbox session list shows what runs", "%w", err)
	}
	defer client.Close()
	a := &asked{}
	return a, session.Unmarshal(client.Hello.Asked, a)
}

func askedFor(sys *cli.System, f *boundary.Flags, plainGit bool) asked {
	return asked{Flags: *f, Dir: sys.Dir, Home: sys.Getenv("HOME"), PlainGit: plainGit}
}

// with returns the request, with what each command can have of its own:
// variables and a time limit.
func (a asked) with(f *boundary.Flags) boundary.Flags {
	flags := a.Flags
	flags.Env = slices.Concat(a.Flags.Env, f.Env)
	flags.Timeout, flags.Untimed = cmp.Or(f.Timeout, flags.Timeout), f.Untimed
	return flags
}

// bounds returns the flags that apply to a whole session, not to single
// commands.
func bounds(f *boundary.Flags) boundary.Flags {
	flags := *f
	flags.Env, flags.Timeout, flags.Untimed = nil, "", false
	return flags
}
