package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/outfile"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/view"
)

// viewFlags say what happens to what a command writes.
type viewFlags struct {
	Mode        string     `placeholder:"MODE" enum:",plan,verify,safe,auto" default:"" help:"Trust mode: plan shows the plan and runs nothing; verify runs in a copy-on-write view of the work space that is thrown away."`
	Keep        string     `placeholder:"DIR" help:"With --mode verify: copy what the command created or changed in the work space to this new directory."`
	Tree        bool       `help:"Record the content of the work space before and after the run with the result, for ethos-trace prove."`
	Transaction cli.Choice `help:"Run in a copy-on-write view, show what the command changed, and ask whether to apply it; =keep and =drop answer beforehand."`
}

const (
	answerKeep = "keep"
	answerDrop = "drop"
)

func (f *viewFlags) views() bool {
	return f.Transaction != "" || f.Keep != "" || f.Mode == record.ModeVerify || f.Mode == record.ModePlan
}

// alone refuses these flags in a session.
func (f *viewFlags) alone() error {
	if f.Tree {
		return cli.Errorf(cli.Refused, "omit --session: other commands in a session can change what this one reads", "--tree cannot be used with --session")
	}
	if f.Mode == "" && f.Keep == "" && f.Transaction == "" {
		return nil
	}
	return cli.Errorf(cli.Refused, "use session start --view copy-on-write: the view is thrown away when the session ends", "--mode, --keep and --transaction cannot be used with --session, because its commands share one boundary")
}

func (f *viewFlags) check() error {
	if err := f.Transaction.Check("--transaction", answerKeep, answerDrop); err != nil {
		if fault := (*cli.Error)(nil); errors.As(err, &fault) {
			fault.Status = cli.Refused
		}
		return err
	}
	switch {
	case f.Keep != "" && f.Mode != record.ModeVerify:
		return cli.Errorf(cli.Refused, "use --transaction to apply the changes to the work space itself", "--keep needs --mode verify")
	case f.Transaction != "" && f.Mode != "" && f.Mode != record.ModeSafe && f.Mode != record.ModeAuto:
		return cli.Errorf(cli.Refused, "omit --transaction or --mode", "--transaction can change the work space, and --mode %s does not", f.Mode)
	}
	if f.Keep != "" {
		path, err := outfile.Directory(f.Keep)
		if err != nil {
			return cli.Errorf(cli.Refused, "name a directory whose parent exists", "--keep: %w", err)
		}
		if _, err := os.Lstat(path); err == nil {
			return cli.Errorf(cli.Refused, "name a directory that does not exist, in one that does", "--keep %s: already exists", f.Keep)
		}
		f.Keep = path
	}
	return nil
}

// apart creates the view that outlasts the run, if there is one.
func (f *viewFlags) apart(sys *cli.System, plan *sandbox.Plan) error {
	if f.Transaction == "" && f.Keep == "" {
		return nil
	}
	name := fmt.Sprintf("run-%s-%d", sys.Now().UTC().Format("20060102T150405"), os.Getpid())
	v, err := view.Create(sandbox.ViewPlace(plan, name))
	if err == nil {
		plan.View.At = v.Dir
		err = v.Close()
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "check ~/.local/state/ethos (or XDG_STATE_HOME) and /var/tmp, where views are kept", "copy-on-write view: %w", err)
	}
	return nil
}

// settle handles the view as requested after its command has ended. out is the
// result, or nil if nothing ran; ended is the command's end as an error, nil
// for status 0.
func (f *viewFlags) settle(ctx context.Context, sys *cli.System, plan *sandbox.Plan, out *sandbox.Outcome, ended error) error {
	if plan.View == nil || plan.View.At == "" {
		return ended
	}
	ctx = context.WithoutCancel(ctx)
	v, err := view.OpenAt(sys.Getenv, plan.View.At)
	if err != nil {
		return errors.Join(ended, fmt.Errorf("copy-on-write view: %w", err))
	}
	var changes []view.Change
	var writes *record.Writes
	if out != nil && out.Writes != nil { // listed for the evidence already
		changes, writes = out.Changes, out.Writes
	} else if changes, err = v.Unhashed(ctx); err == nil {
		writes = view.Writes(changes, 0)
	}
	if err != nil {
		v.Close()
		return errors.Join(ended, fmt.Errorf("the changes cannot be listed; they are kept in %s: %w", v.Dir, err))
	}
	if f.Keep != "" {
		return errors.Join(ended, f.keep(ctx, sys, v, changes, plan))
	}
	if err := f.conclude(ctx, sys, v, changes, writes, ended == nil); err != nil && ended == nil {
		return err
	}
	return ended
}

// keep copies what the command created, and discards the view.
func (f *viewFlags) keep(ctx context.Context, sys *cli.System, v *view.View, changes []view.Change, plan *sandbox.Plan) error {
	defer v.Remove()
	root := -1
	for i, r := range v.Roots {
		if r.Path == plan.Workspace || strings.HasPrefix(plan.Workspace, r.Path+"/") {
			root = i
		}
	}
	if root < 0 {
		sys.Note("nothing is kept: the command could not write to the work space", "")
		return nil
	}
	dir, err := outfile.Directory(f.Keep)
	if err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	result, err := sandbox.KeepView(ctx, v, sys.Getenv, root, changes, dir)
	if err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	result.Left = slices.DeleteFunc(result.Left, func(l view.Left) bool {
		if l.Closed {
			sys.Deny("not kept: "+printable.Line(l.Path)+": it decides what runs outside, or was denied", "")
		}
		return l.Closed
	})
	return told(sys, result)
}

// conclude shows the changes of a transaction, and applies or discards them.
// What is neither applied nor discarded is kept as a workspace.
func (f *viewFlags) conclude(ctx context.Context, sys *cli.System, v *view.View, changes []view.Change, writes *record.Writes, passed bool) error {
	if len(changes) == 0 {
		sys.Note("the command changed nothing", "")
		return v.Remove()
	}
	answer := string(f.Transaction)
	show(sys, changes, writes)
	switch {
	case answer == string(cli.Chosen) && typed(sys):
		answer = ask(sys)
	case answer == answerKeep && !passed:
		sys.Warn("the changes were not applied: the command did not end with status 0", later(v.Name))
		return v.Close()
	}
	switch answer {
	case answerDrop:
		return v.Remove()
	case answerKeep:
		return applyAll(ctx, sys, v, changes)
	}
	sys.Warn("the changes were neither applied nor dropped", later(v.Name))
	return v.Close()
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func later(name string) string {
	return "ethos-sandbox workspace apply " + name + ", or ethos-sandbox workspace remove --force " + name
}

// typed reports whether standard input is a terminal.
func typed(sys *cli.System) bool {
	f, ok := sys.Stdin.(*os.File)
	return ok && cli.IsTerminal(f)
}

// ask asks the user. An empty answer decides nothing.
func ask(sys *cli.System) string {
	if !alone(sys) {
		return ""
	}
	sys.Ask("k applies the changes to the work space, d drops them, anything else keeps them for later [k/d/l] ")
	line, _ := bufio.NewReader(sys.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "k", answerKeep:
		return answerKeep
	case "d", answerDrop:
		return answerDrop
	}
	return ""
}

// alone makes a question on the terminal that is standard input the only one that can be answered: it
// discards what was typed before, since the command may have shown a question that looked the same,
// and makes text visible again. It reports whether this succeeded.
func alone(sys *cli.System) bool {
	f, ok := sys.Stdin.(*os.File)
	return ok && cli.DiscardTyped(f) == nil && cli.ShowText(sys.Stderr) == nil
}

// applyAll applies everything, and removes the view if nothing is left in it.
func applyAll(ctx context.Context, sys *cli.System, v *view.View, changes []view.Change) error {
	result := sandbox.ApplyView(ctx, v, sys.Getenv, changes)
	if err := told(sys, result); err != nil {
		sys.Warn("the changes that were not applied are kept", "ethos-sandbox workspace diff "+v.Name+" shows them; "+later(v.Name))
		return errors.Join(err, v.Save(), v.Close())
	}
	return v.Remove()
}

// told reports the result for the changes. The error says that some were not
// applied.
func told(sys *cli.System, result view.Result) error {
	warn(sys, result.Found)
	for i, left := range result.Left {
		if i == maxShownChanges {
			sys.Deny(fmt.Sprintf("%d more were not applied", len(result.Left)-i), "")
			break
		}
		sys.Deny("not applied: "+printable.Line(left.Path)+": "+printable.Line(left.Reason), "")
	}
	if len(result.Left) > 0 {
		return cli.Errorf(cli.NegativeStatus, "", "not applied: %d of %s", len(result.Left), counted(len(result.Left)+len(result.Applied), "change"))
	}
	return nil
}

// maxShownChanges limits the lines about changes.
const maxShownChanges = 100

// show lists changes on standard error; w is their summary.
func show(sys *cli.System, changes []view.Change, w *record.Writes) {
	text := fmt.Sprintf("changes in its view of the work space: %d created, %d modified, %d deleted, %d bytes", w.Created, w.Modified, w.Deleted, w.Bytes)
	for i, c := range changes {
		if i == maxShownChanges {
			text += fmt.Sprintf("\n… and %d more", len(changes)-i)
			break
		}
		text += "\n" + changeLine(c)
	}
	sys.Note(text, "")
}

// changeLine returns a change for people: a letter, the permissions, the size
// and the path.
func changeLine(c view.Change) string { return writeLine(c.Write()) }

func writeLine(w record.Write) string {
	letter := map[string]string{record.WriteCreated: "A", record.WriteModified: "M", record.WriteDeleted: "D"}[w.Op]
	line := fmt.Sprintf("%s %-4s %8d %s", letter, w.Mode, w.Size, printable.Line(w.Path))
	switch {
	case w.Type == "directory":
		line += "/"
	case w.Type == "symlink" && w.Op != record.WriteDeleted:
		line += " -> " + printable.Line(w.Target)
	case w.Link != "":
		line += " = " + printable.Line(w.Link)
	case w.Type != "file":
		line += " (" + w.Type + ")"
	}
	return line
}
