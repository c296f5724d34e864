//go:build !nocel

package decide

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// world is a work space, and beside it the state folder of the person whose it is.
type world struct {
	t              *testing.T
	workspace      string // a git work tree
	memory         *trust.Memory
	home, stateDir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, workspace: filepath.Join(root, "work"), home: filepath.Join(root, "home"), stateDir: filepath.Join(root, "state")}
	w.memory = trust.New(func(name string) string { return map[string]string{"XDG_STATE_HOME": w.stateDir}[name] })
	w.must(os.MkdirAll(w.home, 0o700))
	w.repository(".")
	return w
}

// repository makes a directory of the work space, or the work space, a git work tree.
func (w *world) repository(dir string) {
	w.t.Helper()
	w.write(filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/topic\n")
	w.write(filepath.Join(dir, ".git/config"), "[core]\n\trepositoryformatversion = 0\n")
	for _, name := range []string{"objects", "refs"} {
		w.must(os.MkdirAll(filepath.Join(w.workspace, dir, ".git", name), 0o700))
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// write writes a file of the work space, or one at an absolute path.
func (w *world) write(name, text string) string {
	w.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.workspace, name)
	}
	w.must(os.MkdirAll(filepath.Dir(name), 0o700))
	w.must(os.WriteFile(name, []byte(text), 0o600))
	return name
}

// trusts makes the person trust what a file has now.
func (w *world) trusts(file string) {
	w.t.Helper()
	text, err := os.ReadFile(file)
	w.must(err)
	w.must(w.memory.Save(trust.Entry{Kind: trust.Configuration, Path: file, Text: text}, now()))
}

func now() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// call is a record of a script, and of who runs it.
type call struct {
	script, mode, session string
	cwd                   string // relative to the work space
}

// line returns the record of a call, as ethos-facts writes it.
func (w *world) line(c call) *record.Line {
	w.t.Helper()
	d, err := facts.New(facts.Options{Home: w.home, Git: gitrepo.Options{Home: w.home}})
	w.must(err)
	action, err := d.Place(record.Action{Kind: record.KindShell, Script: c.script, Cwd: filepath.Join(w.workspace, c.cwd)})
	w.must(err)
	actor := record.Actor{Agent: "claude", Tool: "Bash", Session: c.session, Mode: record.ModeSafe}
	if c.mode != "" {
		actor.Mode = c.mode
	}
	f, err := d.Derive(action, actor)
	w.must(err)
	l := record.NewLine("0190a000-0000-7000-8000-000000000001", now(), action, actor)
	w.must(l.Set("facts", f))
	return w.parsed(l)
}

// parsed reads a line from its text, as every program of the pipe does.
func (w *world) parsed(l *record.Line) *record.Line {
	w.t.Helper()
	l, err := record.ParseLine(bytes.TrimSuffix(l.AppendTo(nil), []byte("\n")))
	w.must(err)
	return l
}

// decider returns a decider that sees the world anew, as the next start of a program does.
func (w *world) decider(o Options, approve ...string) *Decider {
	if o.Version == nil {
		o.Version = func() string { return "test" }
	}
	return New(NewLibrary(o, w.memory), approve, now)
}

// remembering is a decider that saves refusals and uses approvals.
func (w *world) remembering() *Decider {
	d := w.decider(Options{})
	d.Remember()
	return d
}

func (w *world) decide(d *Decider, l *record.Line) Verdict {
	w.t.Helper()
	v, err := d.Decide(w.t.Context(), l)
	w.must(err)
	return v
}

// holds checks a verdict, and that a policy is among the matches if one is named.
func (w *world) holds(what string, v Verdict, want, id string) {
	w.t.Helper()
	matched := func(m record.Match) bool { return m.ID == id }
	if v.Decision.Verdict != want || id != "" && !slices.ContainsFunc(v.Decision.Matches, matched) {
		w.t.Errorf("%s: %s, wanted %s by %q: %+v %+v", what, v.Decision.Verdict, want, id, v.Decision.Matches, v.Decision.Errors)
	}
}
