//go:build !nocel

package decide

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// Calls that a policy refuses unless a person approves them, that one asks about, and that no
// approval lets pass.
const (
	needsNetwork = "curl https://example.com"
	asksFirst    = "rm -rf $BUILD_DIR/"
	neverPasses  = "cat ~/.ssh/id_rsa"
)

// refused decides a call that is not allowed, and returns what is saved of it.
func (w *world) refused(c call) trust.Refused {
	w.t.Helper()
	v := w.decide(w.remembering(), w.line(c))
	list, err := w.memory.Refused(now())
	w.must(err)
	if Allows(v.Decision.Verdict) || len(list) != 1 {
		w.t.Fatalf("%s: %s, saved: %+v", c.script, v.Decision.Verdict, list)
	}
	return list[0]
}

// approves makes the person approve a refused call, as ethos-decide approve does.
func (w *world) approves(r trust.Refused, change func(*trust.Approval)) {
	w.t.Helper()
	a := trust.Approval{ID: r.ID, Call: r.Call, Policies: r.Policies, Grants: r.Grants, By: "me (uid 1000)", For: time.Minute}
	if change != nil {
		change(&a)
	}
	w.must(w.memory.Approve(a, w.workspace, now()))
}

// TestApprovalIsUsedOnce: of the calls that a person approved, the first passes, in one program or in
// several; and an approval of a session as often as the call comes in it.
func TestApprovalIsUsedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		session  bool
		deciders func(w *world) func() *Decider
		want     []string
	}{
		"one program":      {deciders: func(w *world) func() *Decider { d := w.remembering(); return func() *Decider { return d } }, want: []string{"allow", "deny", "deny"}},
		"several programs": {deciders: func(w *world) func() *Decider { return w.remembering }, want: []string{"allow", "deny", "deny"}},
		"a session":        {session: true, deciders: func(w *world) func() *Decider { return w.remembering }, want: []string{"allow", "allow", "allow"}},
	} {
		w := newWorld(t)
		this := call{script: needsNetwork, session: "s"}
		w.approves(w.refused(this), func(a *trust.Approval) { a.Session = c.session })
		next := c.deciders(w)
		var got []string
		for range c.want {
			got = append(got, w.decide(next(), w.line(this)).Decision.Verdict)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestApprovedCallOnly: an approval is of one call. Each change makes it another, which is refused,
// and leaves the approval to the call that was meant.
func TestApprovedCallOnly(t *testing.T) {
	this := call{script: needsNetwork, session: "s"}
	w := newWorld(t)
	w.write("sub/x", "")
	w.approves(w.refused(this), nil)
	for name, other := range map[string]call{
		"command": {script: needsNetwork + "/x", session: "s"}, "directory": {script: needsNetwork, session: "s", cwd: "sub"},
		"session": {script: needsNetwork, session: "t"}, "mode": {script: needsNetwork, session: "s", mode: record.ModeAuto},
	} {
		if v := w.decide(w.remembering(), w.line(other)); Allows(v.Decision.Verdict) || v.Decision.Approval != nil {
			t.Errorf("another %s: %+v", name, v.Decision)
		}
	}
	v := w.decide(w.decider(Options{}), w.line(this)) // without Remember it has no memory
	w.holds("no memory", v, record.VerdictDeny, "runtime.network_requires_approval")
	w.holds("the call itself", w.decide(w.remembering(), w.line(this)), record.VerdictAllow, "")
}

// TestApprovedRecord: an approved record says who approved what, has the network that the call needs
// and no more, and is sealed as it became.
func TestApprovedRecord(t *testing.T) {
	w := newWorld(t)
	this := call{script: needsNetwork}
	w.approves(w.refused(this), nil)
	l := w.line(this)
	v := w.decide(w.remembering(), l)
	want := &record.Approval{ID: "0190a000-0000-7000-8000-000000000001", By: "me (uid 1000)", Time: now().Format(time.RFC3339), Covers: "once",
		Policies: []string{"runtime.network_requires_approval"}, Grants: []string{"domain=example.com:443"}}
	if d := cmp.Diff(want, v.Decision.Approval); d != "" {
		t.Error(d)
	}
	var (
		actor record.Actor
		facts record.Facts
	)
	w.must(l.Decode("actor", &actor))
	w.must(l.Decode("facts", &facts))
	network := facts.Capabilities.Network
	if !actor.AdminApproved || network.Mode != "proxy" || !slices.Equal(network.AllowDomains, []string{"example.com:443"}) ||
		!slices.Equal(facts.Capabilities.GrantedBy, []string{"ethos-decide approve"}) {
		t.Errorf("%+v, %+v, %q", actor, network, facts.Capabilities.GrantedBy)
	}
	if subject, err := l.Subject(); err != nil || subject != v.Decision.Subject || v.Decision.Broken(actor.AdminApproved) != "" {
		t.Errorf("subject %s of %s, %v; %s", v.Decision.Subject, subject, err, v.Decision.Broken(actor.AdminApproved))
	}
	w.holds("what was approved, again", w.decide(w.remembering(), w.parsed(l)), record.VerdictDeny, "runtime.network_requires_approval")
}

// TestWhatAnApprovalCovers: it overrides the policies that a person saw, and none that no approval
// overrides. What is still refused after it is final.
func TestWhatAnApprovalCovers(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		before string // the work space's policies when the call was refused
		change func(w *world, a *trust.Approval)
		want   string
	}{
		"what was asked":                  {script: asksFirst, want: record.VerdictAllow},
		"what was refused":                {script: needsNetwork, want: record.VerdictAllow},
		"other policies":                  {script: needsNetwork, change: func(_ *world, a *trust.Approval) { a.Policies = []string{"files.outside"} }, want: record.VerdictDeny},
		"no policies":                     {script: asksFirst, change: func(_ *world, a *trust.Approval) { a.Policies = nil }, want: record.VerdictAsk},
		"a policy that came later":        {script: asksFirst, change: func(w *world, _ *trust.Approval) { w.write(ConsumerFile, strings.ReplaceAll(noMake, "make", "rm")) }, want: record.VerdictDeny},
		"a policy about what is approved": {script: asksFirst, before: strings.ReplaceAll(noMake, `runs(shell, "make")`, "actor.admin_approved"), want: record.VerdictAsk},
		"what none overrides":             {script: neverPasses, change: func(_ *world, a *trust.Approval) { a.Policies = []string{"secrets.read"} }, want: record.VerdictDeny},
		"no grant that means anything":    {script: needsNetwork, change: func(_ *world, a *trust.Approval) { a.Grants = []string{"nonsense"} }, want: record.VerdictDeny},
	} {
		w := newWorld(t)
		if c.before != "" {
			w.write(ConsumerFile, c.before)
		}
		this := call{script: c.script}
		w.approves(w.refused(this), func(a *trust.Approval) {
			if c.change != nil {
				c.change(w, a)
			}
		})
		l := w.line(this)
		v := w.decide(w.remembering(), l)
		w.holds(name, v, c.want, "")
		var actor record.Actor
		w.must(l.Decode("actor", &actor))
		if Allows(c.want) != (v.Decision.Approval != nil) || actor.AdminApproved != Allows(c.want) {
			t.Errorf("%s: %+v, approved: %v", name, v.Decision.Approval, actor.AdminApproved)
		}
	}
}

// TestApprovalOption: an id from the command line, of the record or of each policy that refuses it,
// and a warning for one without effect.
func TestApprovalOption(t *testing.T) {
	const id, network = "0190a000-0000-7000-8000-000000000001", "runtime.network_requires_approval"
	for name, c := range map[string]struct {
		script  string
		approve []string
		want    string
		warning string
	}{
		"the record":                 {script: needsNetwork, approve: []string{id}, want: record.VerdictAllow},
		"the policy":                 {script: needsNetwork, approve: []string{network}, want: record.VerdictAllow},
		"another record":             {script: needsNetwork, approve: []string{strings.Replace(id, "0001", "0002", 1)}, want: record.VerdictDeny, warning: "approved nothing"},
		"one of two policies":        {script: neverPasses + "; " + needsNetwork, approve: []string{network}, want: record.VerdictDeny, warning: network + " approved nothing"},
		"a policy that never yields": {script: neverPasses, approve: []string{"secrets.read"}, want: record.VerdictDeny, warning: "no approval exists for secrets.read"},
		"what needs none":            {script: "ls", approve: []string{id}, want: record.VerdictAllow, warning: "approved nothing"},
	} {
		w := newWorld(t)
		d := w.decider(Options{}, c.approve...)
		v := w.decide(d, w.line(call{script: c.script}))
		w.holds(name, v, c.want, "")
		var said []string
		for _, warning := range d.Warnings() {
			if warning.Hint == "" {
				t.Errorf("%s: %q has no hint", name, warning.Message)
			}
			said = append(said, warning.Message)
		}
		if text := strings.Join(said, "\n"); !strings.Contains(text, c.warning) || (c.warning == "") != (text == "") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestRefusalsAreRemembered: a person finds what was refused, with what it needs; nothing is saved of
// what passed, and nothing without a memory.
func TestRefusalsAreRemembered(t *testing.T) {
	for script, c := range map[string]struct {
		verdict                 string
		policies, never, grants []string
	}{
		needsNetwork: {verdict: record.VerdictDeny, policies: []string{"runtime.network_requires_approval"}, grants: []string{"domain=example.com:443"}},
		asksFirst:    {verdict: record.VerdictAsk, policies: []string{"files.delete_unguarded"}},
		neverPasses:  {verdict: record.VerdictDeny, policies: []string{"secrets.read"}, never: []string{"secrets.read"}},
	} {
		w := newWorld(t)
		l := w.line(call{script: script, session: "s"})
		v := w.decide(w.remembering(), l)
		list, err := w.memory.Refused(now())
		w.must(err)
		if len(list) != 1 {
			t.Errorf("%s: %+v", script, list)
			continue
		}
		r := list[0]
		if r.ID != l.ID() || r.Command != script || r.Session != "s" || r.Agent != "claude" || r.Workspace != w.workspace || r.Verdict != c.verdict || r.Action == nil ||
			!slices.Equal(r.Policies, c.policies) || !slices.Equal(r.Never, c.never) || !slices.Equal(r.Grants, c.grants) {
			t.Errorf("%s: %+v", script, r)
		}
		if passes := c.never == nil; v.Passable != passes || v.Never == passes || (v.Approve() != "") != passes {
			t.Errorf("%s: passable %v, never %v, %q", script, v.Passable, v.Never, v.Approve())
		}
	}
	w := newWorld(t)
	w.decide(w.remembering(), w.line(call{script: "ls"}))
	if v := w.decide(w.decider(Options{}), w.line(call{script: needsNetwork})); v.Passable || v.Approve() != "" {
		t.Errorf("nobody can approve what is not saved: %+v", v)
	}
	if list, err := w.memory.Refused(now()); err != nil || len(list) > 0 {
		t.Errorf("saved: %+v, %v", list, err)
	}
}

// TestMemoryThatCannotBeUsed: an approval in a state folder that came with the work space is none,
// and nothing is promised that it could not keep.
func TestMemoryThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	this := call{script: needsNetwork}
	w.approves(w.refused(this), nil)
	planted := filepath.Join(w.workspace, "state")
	w.must(os.CopyFS(planted, os.DirFS(w.stateDir)))
	for _, dir := range []string{"ethos", "ethos/approved", "ethos/refused"} {
		w.must(os.Chmod(filepath.Join(planted, dir), 0o700))
	}
	own := w.stateDir
	w.stateDir = planted
	d := w.remembering()
	v := w.decide(d, w.line(this))
	w.holds("planted", v, record.VerdictDeny, "runtime.network_requires_approval")
	if said := d.Warnings(); v.Passable || len(said) != 1 || !strings.Contains(said[0].Message, "an approval is not valid") {
		t.Errorf("passable %v, said %+v", v.Passable, said)
	}
	w.stateDir = own
	w.holds("the person's own", w.decide(w.remembering(), w.line(this)), record.VerdictAllow, "")
}

// TestSavedWithoutSecrets: what an agent gave to a tool is not saved with a refusal, nor an action
// that is very long.
func TestSavedWithoutSecrets(t *testing.T) {
	w := newWorld(t)
	l := w.line(call{script: asksFirst})
	var action record.Action
	w.must(l.Decode("action", &action))
	action.Input = []byte(`{"description":"hunter2"}`)
	w.must(l.Set("action", action))
	w.decide(w.remembering(), l)
	list, err := w.memory.Refused(now())
	if err != nil || len(list) != 1 || list[0].Action == nil || list[0].Action.Input != nil {
		t.Errorf("%+v, %v", list, err)
	}
	w = newWorld(t)
	if r := w.refused(call{script: asksFirst + " # " + strings.Repeat("x", maxNamed)}); r.Action != nil {
		t.Error("a long action was saved")
	}
}
