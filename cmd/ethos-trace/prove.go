package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/printable"
	"ethos/pkg/proof"
	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

type proveCmd struct {
	storeFlag
	Need     []string       `sep:"none" placeholder:"CMD" help:"A command that must have passed, exactly as written here: the same words, or a shell given exactly this text, in the root of the work space. Default: proofs in coding_ethos.yml."`
	Tree     string         `default:"worktree" placeholder:"worktree|REV" help:"Content on which it must have passed: the work space now, or HEAD, a branch, a tag or a commit."`
	Within   string         `placeholder:"DURATION" help:"Longest time since the run began: 90m, 24h, 7d."`
	Control  []string       `placeholder:"NAME" help:"Controls that must have been in force. Default: userns, mount, pid, network, privileges, landlock and seccomp."`
	AllowEnv []string       `placeholder:"NAME" help:"A variable that may have been declared for the command, or may lead to what it can write."`
	Since    string         `placeholder:"REV" help:"With proofs in coding_ethos.yml: only those needed by files that have changed since this commit."`
	Reply    string         `placeholder:"AGENT" help:"Answer a hook event of ${turns} on standard input: at the end of a turn, make the agent go on while a proof is missing."`
	JSON     bool           `name:"json" help:"As JSON."`
	session  *proof.Session // of an agent, for the end of its turn
}

func (*proveCmd) Help() string {
	return `Status 0 if the store has, for each command, a run that passed on exactly this content, in a boundary of its own whose controls were in force, while nothing in
the work space was written. The last run on the content counts. ethos-sandbox --tree records a run's content; it is always recorded for commands that
proofs in coding_ethos.yml names. For these, the content may differ in files that do not need the command: ethos-decide proofs lists which do.

Status 1: a command has no such run, and a line says what is missing; 3: the store's chain is broken, or there is no such commit.

A proof says that a command ended with status 0. Ignored files, files outside of the work space and package caches are not part of the content.`
}

// Run searches the store for the proofs.
func (c *proveCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Reply != "" {
		return c.reply(ctx, sys)
	}
	out, _, err := c.find(ctx, sys)
	if err != nil {
		return err
	}
	if err := c.print(sys, out); err != nil {
		return err
	}
	if !out.Proven {
		return cli.Negative
	}
	return nil
}

// find judges the needs.
func (c *proveCmd) find(ctx context.Context, sys *cli.System) (proof.Answer, proof.Want, error) {
	if err := checkControls(c.Control); err != nil {
		return proof.Answer{}, proof.Want{}, err
	}
	space, err := filepath.EvalSymlinks(c.root(sys))
	if err != nil {
		return proof.Answer{}, proof.Want{}, err
	}
	rules, base, err := c.rules(ctx, sys, space)
	if err != nil {
		return proof.Answer{}, proof.Want{}, err
	}
	want, files, out, err := c.want(ctx, sys, space)
	if err != nil {
		return out, want, err
	}
	commands := c.Need
	if rules != nil {
		commands = rules.Commands()
	}
	runs, err := c.runs(ctx, sys, commands)
	if err != nil {
		return out, want, err
	}
	var now map[string]string
	if rules != nil {
		if now, err = files(); err != nil {
			return out, want, err
		}
		want.Same = c.same(sys, rules, want.Workspace, now)
	}
	out.Proven = true
	for _, need := range commands {
		if rules != nil && !rules.Differs(need, base, now) {
			out.Needs = append(out.Needs, proof.Verdict{Need: need, State: proof.Unneeded, Why: "no file that needs it " + c.unneeded()})
			continue
		}
		v := proof.Judge(need, runs, want)
		if v.State == proof.Other {
			v.Why += c.differs(sys, want.Workspace, v.Tree, files)
		}
		out.Needs = append(out.Needs, v)
		out.Proven = out.Proven && v.State == proof.Proven
	}
	return out, want, nil
}

// checkControls refuses names that no evidence can contain: a run would seem to lack them.
func checkControls(names []string) error {
	for _, name := range names {
		if hint, unknown := record.UnknownControl(name); unknown {
			return cli.Errorf(cli.Usage, hint, "--control: unknown control %q", name)
		}
	}
	return nil
}

func (c *proveCmd) root(sys *cli.System) string {
	if c.session != nil {
		return c.session.Workspace
	}
	return trace.WorkTree(sys.Dir)
}

func (c *proveCmd) want(ctx context.Context, sys *cli.System, space string) (w proof.Want, files func() (map[string]string, error), out proof.Answer, err error) {
	w = proof.Want{Workspace: space, Now: sys.Now(), Controls: c.Control, Variables: c.AllowEnv}
	if len(w.Controls) == 0 {
		w.Controls = proof.DefaultControls()
	}
	if c.Within != "" {
		d, err := duration(c.Within)
		if err != nil {
			return w, nil, out, cli.Errorf(cli.Usage, "write it as 90m, 24h or 7d", "--within: %w", err)
		}
		w.Since = w.Now.Add(-d)
	}
	if c.Tree == "worktree" {
		now, err := proof.Content(ctx, sys.Getenv, space)
		if err != nil {
			return w, nil, out, cli.Errorf(cli.BadInput, "add the file to .gitignore, remove it, or wait until nothing writes", "%w", err)
		}
		w.Tree = now.Tree
		files = func() (map[string]string, error) { return now.Files(), nil }
	} else {
		rev, err := gitrepo.FindRevision(space, c.Tree)
		if err != nil {
			return w, nil, out, cli.Errorf(cli.BadInput, revisionHint(err, c.Tree, "--tree worktree is the content as it is now"), "--tree: %w", err)
		}
		w.Tree, out.Commit, files = rev.Tree, rev.Commit, rev.Files
	}
	out.Tree, out.Workspace, out.Needs = w.Tree, space, []proof.Verdict{}
	return w, files, out, nil
}

// runs returns the store's runs with a content, and those without one of the commands that failed, in
// order. A broken chain proves nothing, because a failed run may have been removed.
func (c *proveCmd) runs(ctx context.Context, sys *cli.System, commands []string) ([]proof.Run, error) {
	s, err := trace.OpenExisting(c.dir(sys))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "name the store with --store", "%w", err)
	}
	defer s.Close()
	v, err := s.Verify()
	if err != nil {
		return nil, err
	}
	if len(v.Faults) > 0 {
		f := v.Faults[0]
		return nil, cli.Errorf(cli.BadInput, "see ethos-trace verify for what is wrong; move the store away, and run the commands again", "the store cannot be used as proof: %s: %s: %s", f.At, f.Kind, f.Detail)
	}
	var runs []proof.Run
	at, marks := map[string]int{}, marks(commands)
	err = s.Walk(timeZero, func(l trace.Stored) error {
		if l.Torn || !bytes.Contains(l.Text, []byte(`"tree":{"before":"`)) && !failedRun(l.Text, marks, sys.Now()) {
			return ctx.Err()
		}
		run, ok := runOf(sys, l.Text)
		if !ok {
			return ctx.Err()
		}
		if i, twice := at[run.ID]; twice && (run.Sealed == nil && runs[i].Sealed == nil || bare(run) && bare(runs[i]) && run.Result.Started == runs[i].Result.Started) {
			return ctx.Err() // a copy of the same run is as old as the original
		}
		at[run.ID] = len(runs)
		runs = append(runs, run)
		return ctx.Err()
	})
	return runs, err
}

// runOf reads a run from a line; ok is false for any other line.
func runOf(sys *cli.System, text []byte) (run proof.Run, ok bool) {
	line, err := record.ParseLine(text)
	if err != nil || line.Kind() != record.LineAction || line.Decode("result", &run.Result) != nil {
		return run, false
	}
	run.ID, run.Sealed = line.ID(), proof.Check(sys.Getenv, line.ID(), run.Result)
	var declared record.Capabilities
	if line.Decode("capabilities", &declared) == nil {
		run.Declared = declared.Env
	}
	var a record.Action
	if line.Decode("action", &a) != nil {
		return run, false
	}
	run.Argv, run.Dir, run.Workspace = a.Argv, resolved(a.Cwd), resolved(a.Workspace)
	if a.Kind == record.KindShell {
		run.Argv = []string{"sh", "-c", a.Script}
	}
	return run, true
}

// bare reports whether a run has no content.
func bare(run proof.Run) bool { return run.Result.Capture.Tree == nil }

// resolved returns a path without symbolic links, as a recorded content has it.
func resolved(path string) string {
	if clean, err := filepath.EvalSymlinks(path); err == nil {
		return clean
	}
	return path
}

// marks returns for each command a part of it that every record of its runs has unchanged, so that a
// search need not read the other lines.
func marks(commands []string) (marks [][]byte) {
	for _, command := range commands {
		longest := ""
		for part := range strings.FieldsFuncSeq(command, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
		}) {
			if len(part) > len(longest) {
				longest = part
			}
		}
		marks = append(marks, []byte(longest))
	}
	return marks
}

// failedRun reports whether a line is a run that did not pass, of what may be one of the commands.
func failedRun(text []byte, marks [][]byte, now time.Time) bool {
	if !bytes.Contains(text, []byte(`"result":{`)) || !slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text, mark) }) {
		return false
	}
	e, isAction := trace.Skim(text, now)
	return isAction && e.Ran() && (e.Result.Status != record.StatusExited || e.Result.ExitCode != 0)
}

// maxDiffering limits the files that are named.
const maxDiffering = 5

// differs names the files that differ from another content, if that is still stored.
func (c *proveCmd) differs(sys *cli.System, space, tree string, files func() (map[string]string, error)) string {
	var was map[string]string
	if known := proof.Known(sys.Getenv, space, tree); known != nil {
		was = known.Files()
	}
	now, err := files()
	if was == nil || err != nil {
		return ", tree " + printable.Line(tree)
	}
	var list []string
	for name, object := range now {
		if was[name] != object {
			list = append(list, name)
		}
	}
	for name := range maps.Keys(was) {
		if now[name] == "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	more := ""
	if n := len(list) - maxDiffering; n > 0 {
		list, more = list[:maxDiffering], fmt.Sprintf(" and %d more", n)
	}
	return ": " + printable.Line(strings.Join(list, ", ")) + more
}

func (c *proveCmd) print(sys *cli.System, out proof.Answer) error {
	if c.JSON {
		return printJSON(sys, out)
	}
	defer c.advise(sys, out)
	return c.list(out, func(text string) error { return sys.Printf("%s\n", text) })
}

func (c *proveCmd) tell(sys *cli.System, out proof.Answer) error {
	defer c.advise(sys, out)
	return c.list(out, func(text string) error { sys.Warn(text, ""); return nil })
}

func (c *proveCmd) list(out proof.Answer, write func(text string) error) error {
	for _, v := range out.Needs {
		if err := write(v.Text()); err != nil {
			return err
		}
	}
	return nil
}

func (*proveCmd) advise(sys *cli.System, out proof.Answer) {
	if out.Proven {
		return
	}
	hint := "run what lacks a proof in " + printable.Line(out.Workspace) + ":"
	for _, v := range out.Needs {
		if v.State != proof.Proven && v.State != proof.Unneeded {
			hint += "\n" + facts(v.Need) + " | ethos-decide | ethos-sandbox --tree | ethos-trace"
		}
	}
	sys.Warn("not proven on tree "+out.Tree, hint)
}

// facts returns the command line that makes a record of a need. A shell reads all of it as one
// command, whatever the need contains: no part of the need runs anywhere else.
func facts(need string) string {
	words, script := needs.Words(need)
	if script != "" {
		return "ethos-facts -c " + printable.Word(script)
	}
	line := "ethos-facts --"
	for _, word := range words {
		line += " " + printable.Word(word)
	}
	return line
}

// revisionHint returns the remedy for a revision that was not found.
func revisionHint(err error, name, otherwise string) string {
	if errors.Is(err, gitrepo.ErrComputed) {
		return "give the name of the commit: git rev-parse " + printable.Word(name)
	}
	return otherwise
}
