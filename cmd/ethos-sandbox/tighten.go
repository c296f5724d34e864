package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/outfile"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/trace"
)

// tighten reads the recorded runs of the workspace, and proposes to remove what
// none of them used from its configuration. It runs nothing.
func (c *learnCmd) tighten(ctx context.Context, sys *cli.System) error {
	if len(c.Argv) > 0 {
		return cli.Errorf(cli.Usage, "omit the command; --tighten reads the recorded runs of the work space", "--tighten runs nothing")
	}
	workspace := c.Workspace
	if workspace == "" {
		workspace = trace.WorkTree(sys.Dir)
	}
	workspace, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return cli.Errorf(cli.BadInput, "name it by its path", "work space: %w", err)
	}
	config := filepath.Join(workspace, capability.ConfigName)
	if strings.HasSuffix(c.Out, ".yaml") {
		config = c.Out
	}
	text, err := readConfig(config)
	if err != nil {
		return cli.Errorf(cli.BadInput, "make it a regular file that can be read", "%w", err)
	}
	space := capability.Space{Workspace: workspace, Home: sys.Getenv("HOME")}
	tally := explain.NewTally(text, func(declared string) string {
		list, err := capability.Expand(space, sys.Getenv, []string{declared})
		if err != nil {
			return ""
		}
		if real, err := filepath.EvalSymlinks(list[0].Name); err == nil {
			return real
		}
		return list[0].Name
	})
	if err := countRuns(ctx, sys, workspace, tally); err != nil {
		return err
	}
	tell(sys, tally)
	changed, diff, ok := tally.Patch(capability.ConfigName)
	if !ok {
		return nil
	}
	switch {
	case c.Out == "":
		return sys.Print(diff)
	case strings.HasSuffix(c.Out, ".yaml"):
		diff = changed
	}
	return outfile.Write(c.Out, diff)
}

// countRuns counts the runs in the workspace's store, each once.
func countRuns(ctx context.Context, sys *cli.System, workspace string, tally *explain.Tally) error {
	dir := sys.Getenv("ETHOS_STORE")
	switch {
	case dir == "":
		dir = trace.DefaultDir(workspace)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(sys.Dir, dir)
	}
	store, err := trace.OpenExisting(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Errorf(cli.BadInput, "pipe records through ethos-trace first", "nothing is recorded yet: %s does not exist", dir)
	}
	if err != nil {
		return cli.Errorf(cli.BadInput, "ethos-trace verify says what is wrong", "%w", err)
	}
	defer store.Leave()
	amended, err := store.Amended(time.Time{})
	if err != nil {
		return err
	}
	return store.Walk(time.Time{}, func(l trace.Stored) error {
		if l.Torn || trace.Stale(l.Text, amended) {
			return ctx.Err()
		}
		line, err := record.ParseLine(l.Text)
		if err != nil || line.Kind() != record.LineAction {
			return ctx.Err()
		}
		if e, err := trace.NewEntry(line, sys.Now()); err == nil && e.Ran() && e.Action.Workspace == workspace {
			s := &e.Result.Capture.Sandbox
			how, _, _ := strings.Cut(s.Observer, ";")
			observed := s.Session == "" && how == record.Observed // the use by single commands of a session is unknown
			facts := e.AllFacts()
			tally.Add(facts.Tool.ID, &facts.Capabilities, s, observed)
		}
		return ctx.Err()
	})
}

// tell reports how the runs used each value of the configuration.
func tell(sys *cli.System, t *explain.Tally) {
	hint := ""
	if t.Observed == 0 {
		hint = "only observed runs record the paths and sockets that a command used: ethos-facts -- COMMAND | ethos-decide | ethos-sandbox --explain | ethos-trace"
	}
	sys.Note(fmt.Sprintf("runs recorded: %d, observed: %d", t.Runs, t.Observed), hint)
	for _, key := range t.Unread {
		sys.Warn(fmt.Sprintf("%s: its list is not read, because it is on one line", key), "write one item a line")
	}
	for _, g := range t.Grants {
		name := printable.Line(g.Key + ": " + g.Value)
		switch {
		case g.Runs == 0:
			sys.Note(name+": no recorded run had it", "")
		case g.Known == 0:
			sys.Note(fmt.Sprintf("%s: unknown whether a run used it (%d had it)", name, g.Runs), "")
		case g.Unused():
			sys.Note(fmt.Sprintf("%s: no run used it (of %d)", name, g.Known), "")
		case g.OnlyRead():
			sys.Note(fmt.Sprintf("%s: no run wrote it (of %d): read access is enough", name, g.Known), "")
		}
	}
}
