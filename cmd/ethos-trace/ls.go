package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
	"ethos/pkg/trace/tooloutput"
)

type lsCmd struct {
	storeFlag
	Since   string `placeholder:"WHEN" help:"Only records since then: 90m, 24h, 7d, 2026-11-21 or an RFC 3339 time."`
	Outcome string `enum:",passed,found,failed,no-result,denied,asked,undecided,allowed,reported,invalid" default:"" placeholder:"WORD" help:"Only this outcome: passed, found, failed, no-result, denied, asked, undecided, allowed, reported or invalid."`
	Tool    string `placeholder:"NAME" help:"Only this tool or command."`
	Denials bool   `help:"Only runs in which the sandbox denied or quarantined something."`
	Policy  string `placeholder:"ID" help:"Only actions that this policy denied or asked about, or that an error with this code left undecided."`
	Agent   string `placeholder:"NAME" help:"Only actions of this agent: ${agents}."`
	Session string `placeholder:"NAME" help:"Only this session: of ethos-sandbox, or of an agent and its sub-agents, for which the start of the id is enough."`
	All     bool   `name:"all-workspaces" help:"List the stores of all work spaces in which an agent's hook has recorded, one after the other."`
	Limit   int    `short:"n" placeholder:"N" help:"Only the last N."`
	JSON    bool   `name:"json" help:"Print the stored lines unchanged."`
	refused int    // actions that --denials leaves out, because policy refused them
	unseen  []*unseen
	now     time.Time
}

// Run lists stored records, oldest first.
func (c *lsCmd) Run(ctx context.Context, sys *cli.System) error {
	c.now = sys.Now()
	since, err := when(c.Since, c.now)
	if err != nil {
		return err
	}
	c.unseen = c.asksFor()
	to := sys.Stdout
	if c.JSON {
		to = sys.Records()
	}
	out := bufio.NewWriter(to)
	table := report.NewTable(report.DetectTerminal(sys.Stdout, sys.Getenv))
	list := &listing{limit: c.Limit, write: func(text []byte) { c.write(out, text, table) }}
	if c.All {
		err := errors.Join(c.each(ctx, sys, since, list, out), out.Flush())
		return cmp.Or(err, c.others(sys, list))
	}
	s, err := c.open(sys)
	if c.nothingYet(sys, err) {
		c.unseen = slices.DeleteFunc(c.unseen, func(u *unseen) bool { return u.known == nil })
		return c.noneHas(sys)
	}
	if err == nil {
		err = errors.Join(c.store(ctx, s, since, list), out.Flush())
	}
	return cmp.Or(err, c.others(sys, list))
}

// others says why nothing is listed: no record has a requested name, or --denials leaves out what
// policy refused.
func (c *lsCmd) others(sys *cli.System, list *listing) error {
	if list.added == 0 && c.refused > 0 {
		sys.Note("the sandbox denied nothing; policy refused "+report.Count(c.refused, "action"), "--outcome denied lists what was refused")
	}
	return c.noneHas(sys)
}

// store lists one store. A record that got its result later is in the store
// twice, and is listed once.
func (c *lsCmd) store(ctx context.Context, s *trace.Store, since time.Time, list *listing) error {
	defer s.Close()
	amended, err := s.Amended(since)
	if err != nil {
		return err
	}
	err = s.Walk(since, func(l trace.Stored) error {
		if !l.Torn && !trace.Stale(l.Text, amended) && c.wanted(l.Text, since) {
			list.add(l.Text)
		}
		return ctx.Err()
	})
	list.end()
	return err
}

// each lists the stores that hooks have created, each under its workspace.
func (c *lsCmd) each(ctx context.Context, sys *cli.System, since time.Time, list *listing, out *bufio.Writer) error {
	if c.Store != "" {
		return cli.Errorf(cli.Usage, "omit one of them", "--store and --all-workspaces exclude each other")
	}
	spaces, err := trace.Remembered(sys.Getenv)
	if err != nil {
		return cli.Errorf(cli.BadInput, "ethos-trace ls in a work space lists its store", "%w", err)
	}
	for _, space := range spaces {
		s, err := trace.OpenExisting(trace.DefaultDir(space))
		if err != nil {
			sys.Warn(err.Error(), "the others are listed")
			continue
		}
		if !c.JSON {
			fmt.Fprintf(out, "%s\n", printable.Line(space))
		}
		if err := c.store(ctx, s, since, list); err != nil {
			return err
		}
	}
	return nil
}

// wanted checks a line without parsing all of it.
func (c *lsCmd) wanted(text []byte, since time.Time) bool {
	e, isAction := trace.Skim(text, c.now)
	if e == nil {
		return c.Tool == "" && !c.Denials && c.Policy == "" && c.Agent == "" && c.Session == "" && (c.Outcome == "" || c.Outcome == "invalid")
	}
	made, err := time.Parse(time.RFC3339Nano, e.Time)
	switch {
	case !isAction, err == nil && made.Before(since):
		return false
	}
	c.note(e)
	switch {
	case c.Tool != "" && e.Tool() != c.Tool && e.CommandName() != c.Tool:
		return false
	case !c.asked(e):
		return false
	case c.Denials && len(e.Denials()) == 0:
		if c.Outcome == "" && e.Outcome() == trace.Denied {
			c.refused++
		}
		return false
	}
	switch o := trace.Outcome(c.Outcome); o {
	case "":
		return true
	case trace.Passed, trace.Failed, trace.Found:
		tooloutput.Fill(e) // the captured output determines the outcome
		return e.Outcome() == o
	default:
		return e.Outcome() == o
	}
}

// asked reports whether the entry has the requested agent, session and policy.
func (c *lsCmd) asked(e *trace.Entry) bool {
	parent := ""
	if e.Actor.Parent != nil {
		parent = e.Actor.Parent.Session
	}
	return (c.Agent == "" || e.Actor.Agent == c.Agent) && (c.Policy == "" || slices.Contains(e.Reasons(), c.Policy)) &&
		(c.Session == "" || e.Session() == c.Session || strings.HasPrefix(e.Actor.Session, c.Session) || strings.HasPrefix(parent, c.Session))
}

// entryOf parses a stored action completely.
func entryOf(text []byte, now time.Time) (*trace.Entry, error) {
	l, err := record.ParseLine(text)
	if err != nil {
		return nil, err
	}
	e, err := trace.NewEntry(l, now)
	if err == nil {
		tooloutput.Fill(e)
	}
	return e, err
}

func (c *lsCmd) write(out *bufio.Writer, text []byte, table *report.Table) {
	if c.JSON {
		out.Write(text)
		out.WriteByte('\n')
		return
	}
	l, err := record.ParseLine(text)
	if err != nil {
		out.WriteString(table.Invalid("?", record.Error{Code: "changed", Message: "the stored line is not a record: " + err.Error()}))
		return
	}
	if l.Kind() == record.LineError {
		var e record.Error
		l.Decode("error", &e) // checked by ParseLine
		out.WriteString(table.Invalid(l.ID(), e))
		return
	}
	if e, err := entryOf(text, c.now); err == nil {
		out.WriteString(table.Entry(e))
	}
}

// listing writes lines immediately or, with a limit, keeps the last ones.
type listing struct {
	limit int
	kept  [][]byte
	next  int
	added int
	write func([]byte)
}

func (l *listing) add(line []byte) {
	l.added++
	switch {
	case l.limit <= 0:
		l.write(line)
	case len(l.kept) < l.limit:
		l.kept = append(l.kept, bytes.Clone(line))
	default:
		l.kept[l.next] = append(l.kept[l.next][:0], line...)
		l.next = (l.next + 1) % l.limit
	}
}

func (l *listing) end() {
	for i := range l.kept {
		l.write(l.kept[(l.next+i)%len(l.kept)])
	}
	l.kept, l.next = nil, 0
}

// when parses a point in time: a duration before now, a day, or a time.
func when(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := duration(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cli.Errorf(cli.Usage, "write 90m, 24h, 7d, 2026-11-21 or 2026-11-21T07:00:00Z", "not a point in time: %q", text)
}

// duration parses Go's durations, and days and weeks.
func duration(text string) (time.Duration, error) {
	var n int
	var unit string
	if k, err := fmt.Sscanf(text, "%d%s", &n, &unit); err == nil && k == 2 && n >= 0 {
		switch unit {
		case "d":
			return time.Duration(n) * 24 * time.Hour, nil
		case "w":
			return time.Duration(n) * 7 * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("negative duration %q", text)
	}
	return d, err
}
