package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/netargs"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// lackTexts explains each code of Facts.Incomplete.
var lackTexts = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		record.IncompleteParse:      "the script does not parse: a shell may read it otherwise",
		record.IncompleteUnresolved: "a command's name, or part of it, is only known when it runs",
		record.IncompleteDepth:      "code is nested more deeply than is followed",
		record.IncompleteSize:       "there is more than is listed",
		record.IncompleteGitRepo:    "the git repository cannot be read in full",
		record.IncompleteGitTarget:  "which refs git would change cannot be resolved",
		record.IncompleteFile:       "where a path leads cannot be looked up",
		record.IncompleteOpaque:     "code is passed to an interpreter and is not analysed",
		record.IncompleteNotUTF8:    "there are bytes that are not UTF-8",
	}
}}

// explain prints for people what was understood of an action.
func explain(out io.Writer, a record.Action, actor record.Actor, f record.Facts) error {
	p := &page{}
	p.action(a, actor, f.Repo)
	p.commands(f.Shell)
	p.places(f)
	p.uses("reads", f.Shell.Reads)
	p.uses("writes", f.Shell.Writes)
	p.git(f.Git)
	p.ethos(f.Ethos)
	p.files(f.Files)
	if len(f.Shell.Risks) > 0 {
		p.row("risks", strings.Join(f.Shell.Risks, " "))
	}
	p.capabilities(f)
	p.configuration(f.Repo.Configuration)
	for _, code := range f.Incomplete {
		p.row("unknown", code+": "+lackTexts.Get()[code])
	}
	_, err := io.WriteString(out, p.text.String()+"\n")
	return err
}

// page is a table of two columns; it omits repeated headings.
type page struct {
	text strings.Builder
	last string
}

func (p *page) row(head, text string) {
	if head == p.last {
		head = ""
	} else {
		p.last = head
	}
	p.text.WriteString(printable.Sprintf("%-9s %s\n", head, text))
}

// places lists the network addresses that the commands name, and what hides addresses.
func (p *page) places(f record.Facts) {
	say := func(name string, r netargs.Reading) {
		for _, t := range r.Targets {
			p.row("network", name+" connects to "+t.String())
		}
		for _, by := range r.Hidden {
			p.row("network", by+" connects to a destination that the command line does not show")
		}
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		r := netargs.Read(c)
		if !r.Known {
			r = netargs.Variables(c)
		}
		say(c.Name, r)
	}
	for i := range f.Git {
		say("git", netargs.ReadGit(&f.Git[i]))
	}
}

func (p *page) action(a record.Action, actor record.Actor, repo record.Repo) {
	switch a.Kind {
	case record.KindExec:
		words := make([]string, len(a.Argv))
		for i, w := range a.Argv {
			words[i] = quoted(w)
		}
		p.row("command", strings.Join(words, " "))
	case record.KindShell:
		for line := range strings.Lines(a.Script) {
			p.row("script", strings.TrimRight(line, "\n"))
		}
	case record.KindFile:
		p.row("file", a.File.Op+" "+a.File.Path)
	default:
		p.row(a.Kind, strings.TrimSpace(a.URL+" "+a.Server+" "+a.Name))
	}
	where := a.Cwd
	if a.Workspace != a.Cwd {
		where += ", work space " + a.Workspace
	}
	if repo.Branch != "" {
		where += ", branch " + repo.Branch
	}
	p.row("in", where)
	if actor.Agent != "" {
		p.row("by", fmt.Sprintf("%s (%s, %s), mode %s", actor.Agent, actor.Event, actor.Tool, actor.Mode))
	}
}

func (p *page) commands(s record.Shell) {
	if s.Error != "" {
		p.row("error", s.Error)
	}
	for i := range s.Commands {
		c := &s.Commands[i]
		line := fmt.Sprintf("%d:%d  %s", c.Line, c.Column, argv(c))
		for _, about := range [][2]string{
			{"via", strings.Join(c.Wrappers, " ")}, {"within", strings.Join(c.Within, ", ")}, {"fed by", strings.Join(c.PipedFrom, " | ")},
			{"into", strings.Join(c.PipedTo, " | ")}, {"with", assignments(c.Assignments)},
		} {
			if about[1] != "" {
				line += "  [" + about[0] + " " + about[1] + "]"
			}
		}
		for _, flag := range []struct {
			is   bool
			text string
		}{{c.Background, "in the background"}, {c.Dynamic, "name not static"}, {c.Opaque, "runs code that is not seen"}} {
			if flag.is {
				line += "  [" + flag.text + "]"
			}
		}
		p.row("runs", line)
	}
}

func argv(c *record.Command) string {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if words[i] = "‹?›"; w != nil {
			words[i] = quoted(*w)
		}
	}
	return strings.Join(words, " ")
}

func assignments(list []record.Assignment) string {
	words := make([]string, len(list))
	for i, a := range list {
		value := "‹?›"
		if a.Value != nil {
			value = quoted(*a.Value)
		}
		words[i] = a.Name + "=" + value
	}
	return strings.Join(words, " ")
}

func (p *page) uses(head string, uses []record.PathUse) {
	for _, u := range uses {
		text := fmt.Sprintf("%s %s  [%s]", u.Op, u.Path, u.By)
		if !u.Certain {
			text += "  [perhaps]"
		}
		p.row(head, text)
	}
}

func (p *page) git(entries []record.Git) {
	for _, g := range entries {
		text := g.Subcommand
		if g.AliasOf != "" {
			text += "  [alias " + g.AliasOf + "]"
		}
		if len(g.Class) > 0 {
			text += "  touches " + strings.Join(g.Class, ", ")
		}
		if len(g.BranchTargets) > 0 {
			text += "  moves " + g.Remote + " " + strings.Join(g.BranchTargets, ", ")
		}
		if len(g.Dangers) > 0 {
			text += "  dangers " + strings.Join(g.Dangers, ", ")
		}
		if len(g.Loses) > 0 {
			text += "  loses " + strings.Join(g.Loses, ", ")
		}
		p.row("git", text)
	}
}

// ethos lists the calls of ethos's own programs that would widen something, or cannot be parsed.
func (p *page) ethos(calls []record.Ethos) {
	for _, c := range calls {
		for _, w := range c.Widens {
			text := c.Program + " " + c.Command + "  widens by " + w.By + " " + w.Option
			if w.Value != "" {
				text += " " + quoted(w.Value)
			}
			p.row("ethos", text)
		}
		for _, word := range c.Unknown {
			p.row("ethos", c.Program+" "+c.Command+"  cannot be read at "+quoted(word))
		}
	}
}

// files lists what the lists above do not show: symbolic links, protected paths, and paths outside
// of the workspace.
func (p *page) files(files []record.File) {
	for _, f := range files {
		var notes []string
		if f.ViaSymlink {
			notes = append(notes, "by a symbolic link")
		}
		if f.Protected != "" {
			notes = append(notes, "protected: "+f.Protected)
		}
		if f.Resolved != "" && !f.InsideWorkspace {
			notes = append(notes, "outside of the work space")
		}
		if len(notes) > 0 {
			p.row("files", fmt.Sprintf("%s %s is %s  [%s]", f.Op, f.Path, f.Resolved, strings.Join(notes, ", ")))
		}
	}
}

func (p *page) capabilities(f record.Facts) {
	if f.Tool.ID != "" {
		text := f.Tool.ID + " (" + f.Tool.Category + ")"
		if !f.Tool.Managed {
			text += ", recognised only"
		}
		p.row("tool", text)
	}
	c := f.Capabilities
	text := fmt.Sprintf("profile %s, network %s, git %s", c.SandboxProfile, c.Network.Mode, c.Git)
	if len(c.WritePaths) > 0 {
		text += ", writes " + strings.Join(c.WritePaths, " ")
	}
	p.row("may use", text)
	for _, g := range c.GrantedBy {
		p.row("granted", g)
	}
}

// configuration shows what the files of the workspace would grant, and whether they do.
func (p *page) configuration(files []record.Configuration) {
	for _, c := range files {
		state := "applies"
		switch {
		case c.Trusted:
			state = "trusted"
		case len(c.Widens) > 0:
			state = "not trusted; what follows does not apply"
		}
		p.row("config", c.Path+": "+state)
		for _, w := range c.Widens {
			p.row("widens", w)
		}
	}
}

// quoted makes the beginning and end of a word visible.
func quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \t\"'\\$`") {
		return strconv.Quote(word)
	}
	return word
}
