package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ethos/pkg/cli"
	"ethos/pkg/gitguard"
	"ethos/pkg/hook/passed"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/timerslack"
	"ethos/pkg/trace"
)

// maxHeld limits, in bytes, the text that waits for its decision, or that
// serves as context for later text.
const maxHeld = 256 << 10

// matter is the subject of a decision: the tool in its records, and the wording
// of a refusal.
type matter struct{ tool, what, wayOut string }

var (
	shellScripts  = matter{"ethos-sandbox shell", "the script", "install ethos-facts and ethos-decide beside ethos-sandbox, or use --undecided: then only the boundary protects"}
	gitSignatures = matter{"ethos-sandbox git-signing", "the signature", "install ethos-facts and ethos-decide beside ethos-sandbox, or sign outside of the sandbox"}
)

// judges are the ethos-facts and ethos-decide in this program's directory,
// connected by a pipe. They judge one record after the other.
type judges struct {
	matter
	ctx      context.Context
	sys      *cli.System
	where    record.Action // its directories
	mode     string
	lasting  bool // more than one record may come
	programs []*exec.Cmd
	in       io.WriteCloser
	out      *record.Reader
	ended    bool            // without an answer
	errs     [2]bytes.Buffer // of ethos-facts and ethos-decide; read when they have ended
}

// newJudges finds the two programs. They start with the first record. Unless they
// last, a session that runs may do their work: see their packages early.
func newJudges(ctx context.Context, sys *cli.System, m matter, workspace, mode string, lasting bool) (*judges, error) {
	mode, err := record.ModeGiven(mode, sys.Getenv)
	if err != nil {
		return nil, m.unjudged(cli.Errorf(cli.Refused, record.ModeHint, "%w", err))
	}
	j := &judges{matter: m, ctx: ctx, sys: sys, where: record.Action{Cwd: sys.Dir, Workspace: workspace}, mode: cmp.Or(mode, record.ModeSafe)}
	self, err := selfPath()
	if err != nil {
		return nil, m.unjudged(err)
	}
	inMode := []string{"--mode", j.mode}
	if j.lasting = lasting; lasting {
		inMode = []string{"--mode=" + j.mode}
	}
	for i, words := range [][]string{append(append([]string{"ethos-facts"}, inMode...), "--from", "records"), append([]string{"ethos-decide"}, inMode...)} {
		program, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(self), words[0]))
		if err != nil {
			return nil, m.unjudged(err)
		}
		cmd := exec.CommandContext(ctx, program, words[1:]...)
		cmd.Dir, cmd.Env, cmd.Stderr = sys.Dir, sys.Environ, &j.errs[i]
		j.programs = append(j.programs, cmd)
	}
	return j, nil
}

// unjudged is the refusal of what nobody decides. Where a program that was asked
// has said why it does not, its way out is the one.
func (m matter) unjudged(err error) error {
	hint := m.wayOut
	if said := (*cli.Error)(nil); errors.As(err, &said) {
		hint = said.Hint
	}
	return cli.Errorf(cli.Refused, hint, "%s cannot be decided: %w", m.what, err)
}

func (j *judges) start() (err error) {
	if j.in != nil {
		return nil
	}
	facts, decide := j.programs[0], j.programs[1]
	if j.in, err = facts.StdinPipe(); err != nil {
		return err
	}
	// Wait would close a pipe that os/exec creates before everything is read.
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	facts.Stdout, decide.Stdin = write, read
	out, err := decide.StdoutPipe()
	if err == nil {
		err = errors.Join(timerslack.Start(facts.Start), timerslack.Start(decide.Start))
	}
	j.out = record.NewReader(out, 0)
	return errors.Join(err, read.Close(), write.Close())
}

func (j *judges) close() {
	if j.in == nil {
		return
	}
	j.in.Close()
	for _, p := range j.programs {
		if p.Process != nil {
			p.Process.Kill()
			_ = p.Wait() // its records contain everything
		}
	}
}

// judge says why an action must not run: a [*cli.Error], or nil if it may. The
// facts say what its script would do.
func (j *judges) judge(a record.Action) (facts record.Facts, err error) {
	a.Cwd, a.Workspace = cmp.Or(a.Cwd, j.where.Cwd), j.where.Workspace
	if !valid(a) {
		return facts, cli.Errorf(cli.Refused, "use UTF-8 for it and for the name of its directory", "%s cannot be decided: it, or the name of its directory, is not UTF-8", j.what)
	}
	line, err := j.ask(record.NewLine("", j.sys.Now(), a, record.Actor{Tool: j.tool, Mode: j.mode}))
	if err != nil {
		return facts, j.unjudged(err)
	}
	refusal, err := judge(line)
	switch {
	case err != nil:
		return facts, j.unjudged(err)
	case refusal != nil:
		err = refused(refusal, cli.Refused)
	}
	if err := line.Decode("facts", &facts); err != nil {
		return facts, j.unjudged(err)
	}
	return facts, err
}

func valid(a record.Action) bool {
	return !slices.ContainsFunc(append([]string{a.Script, a.Cwd, a.Workspace}, a.Argv...), func(s string) bool { return !utf8.ValidString(s) })
}

func (j *judges) ask(line *record.Line) (*record.Line, error) {
	err := j.start()
	if err == nil {
		_, err = j.in.Write(line.AppendTo(nil))
	}
	if err == nil && !j.lasting {
		err = j.in.Close() // a session that does their work reads all of it first
	}
	var answer *record.Line
	if err == nil {
		answer, err = j.out.Next()
	}
	if err != nil { // their standard error says why they ended
		j.ended = true
		j.close()
		for i := range j.errs {
			if message, hint := gitguard.Said(j.errs[i].String()); message != "" {
				return nil, cli.Errorf(cli.Refused, hint, "%s: %s", filepath.Base(j.programs[i].Path), message)
			}
		}
		return nil, fmt.Errorf("ethos-facts | ethos-decide: %w", err)
	}
	if answer.Kind() == record.LineError {
		var fault record.Error
		if err := answer.Decode("error", &fault); err != nil {
			return nil, err
		}
		return nil, cli.Errorf(cli.Refused, "fix that, then try again", "ethos-%s: %s", fault.Stage, fault.Message)
	}
	return answer, nil
}

// before has everything decided that a shell is to run, before it starts. It
// returns the shell's standard input: commands typed into a pipe are decided
// line by line.
func (c *shellCmd) before(ctx context.Context, sys *cli.System, argv []string) (stdin *os.File, done func(), err error) {
	done = func() {}
	own, ok := sys.Stdin.(*os.File)
	if !ok {
		return nil, done, errors.New("standard input is not a descriptor")
	}
	if c.Undecided || c.DryRun || c.Mode == record.ModePlan || c.passed(sys) {
		return own, done, nil
	}
	args := c.Args.Words()
	reads := readsInput(args)
	if c.Command == "" && reads && interactive(own) { // the boundary protects; lines edited on a terminal cannot be seen
		return own, done, nil
	}
	j, err := newJudges(ctx, sys, shellScripts, c.WorkspaceOf(sandbox.HostFiles{}, sys.Dir), c.Mode, c.Command == "" && reads)
	if err != nil {
		return nil, done, err
	}
	action := record.Action{Kind: record.KindExec, Argv: argv}
	switch {
	case c.Command != "":
		action = record.Action{Kind: record.KindShell, Script: c.Command}
	case len(args) > 0 && !reads:
		if text, ok := scriptIn(sys.Dir, args[0]); ok {
			action = record.Action{Kind: record.KindShell, Script: text}
		}
	default:
		if text, ok := restOf(own); ok {
			if _, err := j.judge(record.Action{Kind: record.KindShell, Script: text}); err != nil {
				j.close()
				return nil, done, err
			}
			return piped(func(to io.Writer) error { _, err := io.WriteString(to, text); return err }, j)
		}
		return piped(func(to io.Writer) error { return j.pump(to, own) }, j)
	}
	_, err = j.judge(action)
	j.close()
	return own, done, err
}

// readsInput reports whether a shell with these arguments reads its commands
// from standard input.
func readsInput(args []string) bool {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return false
		}
		if short := strings.TrimPrefix(a, "-"); !strings.HasPrefix(short, "-") && strings.Contains(short, "c") {
			return false
		}
	}
	return true
}

// scriptIn returns the text of the file that a shell is to run.
func scriptIn(dir, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > record.DefaultMaxLine/2 {
		return "", false
	}
	text, err := os.ReadFile(name)
	return string(text), err == nil
}

// passed reports whether the agent's hook has had this exact script decided,
// and the record still waits for the result. A call that a person allowed once
// is then not asked about again.
func (c *shellCmd) passed(sys *cli.System) bool {
	if c.Record == "" { // a hook without a store leaves a note
		c.unrecorded = c.Command != "" && len(c.Args.Words()) == 0 && passed.Take(sys.Getenv, c.Command, sys.Now())
		return c.unrecorded
	}
	dir, err := c.record.store()
	if err != nil {
		return false
	}
	store, err := trace.OpenExisting(dir)
	if err != nil {
		return false
	}
	defer store.Leave()
	store.Now = sys.Now
	l, err := store.Find(c.Record)
	c.record.line = l
	if err != nil || l == nil || l.Has("result") || !l.Has("confine") {
		return false
	}
	var a record.Action
	var d record.Decision
	if l.Decode("action", &a) != nil || l.Decode("decision", &d) != nil {
		return false
	}
	ours, err := c.record.asStored(store)
	return err == nil && a.Script == ours.Script && len(a.Argv) == 0 && (d.Verdict == record.VerdictAllow || d.Verdict == record.VerdictWarn)
}

// restOf returns the rest of a file that is not a pipe; it is decided as a
// whole.
func restOf(f *os.File) (string, bool) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > record.DefaultMaxLine/2 {
		return "", false
	}
	text, err := io.ReadAll(f)
	return string(text), err == nil
}

// piped returns the read end of a pipe that receives what write writes.
func piped(write func(to io.Writer) error, j *judges) (*os.File, func(), error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, j.close, err
	}
	go func() {
		defer out.Close()
		_ = write(out) // fails once the shell has ended
	}()
	return in, func() { in.Close(); j.close() }, nil
}

// pump passes on commands as they arrive, one or more complete lines at a time.
// Each is decided together with everything before it, which defines its names.
// A refused command is replaced with one that fails.
func (j *judges) pump(to io.Writer, from io.Reader) error {
	lines := bufio.NewReader(from)
	var context, held string
	for {
		text, err := lines.ReadString('\n')
		held += text
		ended := err != nil
		if ended && !errors.Is(err, io.EOF) {
			return err
		}
		if held == "" || len(context)+len(held) > maxHeld && context != "" {
			context = context[min(len(context), max(0, len(context)+len(held)-maxHeld)):]
			if _, rest, ok := strings.Cut(context, "\n"); ok {
				context = rest
			}
		}
		if held != "" && (ended || !continued(held)) {
			facts, fault := j.judge(record.Action{Kind: record.KindShell, Script: context + held})
			if facts.Shell.Unfinished && !ended && len(held) < maxHeld {
				continue
			}
			pass := held
			if fault != nil {
				j.tell(fault)
				pass = "(exit 125)\n"
			} else {
				context += held
			}
			if _, err := io.WriteString(to, pass); err != nil {
				return nil // the shell has ended
			}
			held = ""
		}
		if ended {
			return nil
		}
	}
}

func (j *judges) tell(fault error) {
	hint := ""
	if e := (*cli.Error)(nil); errors.As(fault, &e) {
		hint = e.Hint
	}
	j.sys.Deny(fault.Error(), hint)
}

// continued reports whether a text ends in a line that continues on the next
// one.
func continued(text string) bool {
	line := strings.TrimSuffix(text, "\n")
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}
