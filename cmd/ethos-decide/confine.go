package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/hook"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// sandboxProgram is the program that a confined call runs.
const sandboxProgram = "ethos-sandbox"

// The values of --confine.
const (
	confineAsk   cli.Choice = "ask"
	confineAllow cli.Choice = "allow"
	confineNo    cli.Choice = "no"
)

// wraps reports whether allowed calls are replaced with confined ones.
func (c *decideCmd) wraps() bool { return c.Confine != "" && c.Confine != confineNo }

// prompts reports whether an agent that can do so should ask its user about a rewritten call, as it
// might without a hook.
func (c *decideCmd) prompts(actor *record.Actor) bool {
	return c.Confine == confineAsk || c.Confine == cli.Chosen && actor.Mode != record.ModeAuto
}

// confined is the member of a record with the outcome of --confine.
type confined struct {
	Applied bool   `json:"applied"`
	Result  bool   `json:"result,omitempty"`  // the run adds its result to this record in the store
	Reason  string `json:"reason,omitempty"`  // why not
	Session string `json:"session,omitempty"` // the session whose boundary it uses
	Alone   string `json:"alone,omitempty"`   // with --session: why it has a boundary of its own
}

// confine returns the input that runs an allowed shell call inside the sandbox, and notes in the
// record whether it did. An unchanged call runs as it would without --confine.
func (c *decideCmd) confine(l *record.Line, v *decide.Verdict) (json.RawMessage, error) {
	if !c.wraps() || v.Action.Kind != record.KindShell && v.Action.Kind != record.KindExec {
		return nil, nil
	}
	var note confined
	input, err := json.RawMessage(nil), errors.New("the call is not allowed")
	if decide.Allows(v.Decision.Verdict) {
		input, err = c.inside(&policy.Input{Action: &v.Action, Actor: &v.Actor, Facts: v.Facts}, c.recordOf(l))
	}
	note.Applied, note.Result = err == nil, err == nil && c.recordOf(l) != ""
	if err != nil {
		note.Reason = err.Error()
	} else if c.Session != "" {
		note.Session, note.Alone = c.sessionOf(&policy.Input{Action: &v.Action, Actor: &v.Actor, Facts: v.Facts})
	}
	return input, l.Set("confine", note)
}

// inside returns the input that runs a call inside the sandbox. The error is [hook.ErrConfined] for
// a call that already runs there.
func (c *decideCmd) inside(in *policy.Input, id string) (json.RawMessage, error) {
	if trust.Inside() {
		return nil, hook.ErrConfined
	}
	if in.Actor == nil || in.Facts == nil {
		return nil, errors.New("the record has no facts")
	}
	if !c.wraps() {
		return nil, errors.New("the hook has no --confine")
	}
	b := c.boundary(in)
	b.Record = id
	if (c.Tree || c.proves(in)) && id != "" && !slices.Contains(b.Flags, "--session") { // commands of a session change what the others read
		b.Flags = append(b.Flags, "--tree")
	}
	return hook.Confine(c.Reply, in.Actor.Event, in.Action, b)
}

// proves reports whether the workspace needs a call proven.
func (c *decideCmd) proves(in *policy.Input) bool { return c.needed != nil && c.needed(in) }

// recordOf returns the id under which the confined run finds its record in the store.
func (c *decideCmd) recordOf(l *record.Line) string {
	if c.NoStore || c.Records != "" || !record.IsID(l.ID()) {
		return ""
	}
	return l.ID()
}

// confines says why the answer does not put a call inside the sandbox. It is nil if it does, or if
// the call is already inside.
func (c *decideCmd) confines(in *policy.Input) error {
	if _, err := c.inside(in, ""); !errors.Is(err, hook.ErrConfined) {
		return err
	}
	return nil
}

// boundary returns the boundary that the answer puts a call in.
func (c *decideCmd) boundary(in *policy.Input) hook.Boundary {
	if mode := in.Actor.Mode; mode == record.ModePlan || mode == record.ModeVerify { // --mode applies after the facts
		facts := *in.Facts
		facts.Capabilities.View = capability.CopyOnWrite
		copied := *in
		copied.Facts, in = &facts, &copied
	}
	b := boundaryOf(in.Facts)
	// The agent starts the call later, when its directory may lead elsewhere.
	space := []string{"--workspace", in.Action.Workspace}
	if c.Session == "" {
		b.Flags = append(space, b.Flags...)
		return b
	}
	name, alone := c.sessionOf(in)
	switch {
	case alone != "":
		b.Flags = append(space, b.Flags...)
	case c.Session == autoSession:
		b.Flags = slices.Concat([]string{"--session", "auto:" + name}, space, shared(in.Facts).Flags)
	default: // what the user granted counts
		b.Flags = []string{"--session", name}
	}
	return b
}

// boundaryOf returns the boundary that the facts put in force: the profile, and what was granted
// beyond it.
func boundaryOf(f *record.Facts) hook.Boundary {
	b := hook.Boundary{Program: beside(sandboxProgram)}
	c := &f.Capabilities
	if c.SandboxProfile != "" {
		b.Flags = append(b.Flags, "--profile", c.SandboxProfile)
	}
	if c.Enforce == "cgroup" {
		b.Flags = append(b.Flags, "--require", "cgroup")
	}
	if c.View != "" {
		b.Flags = append(b.Flags, "--view", c.View)
	}
	add := func(flag string, values []string) {
		for _, v := range values {
			b.Flags = append(b.Flags, flag, v)
		}
	}
	add("--deny-exec", c.DenyExecPaths)
	add("--mask", c.Masks)
	add("--allow-connect", c.Network.ConnectPorts)
	add("--allow-bind", c.Network.BindPorts)
	if c.UnixFamily != "" {
		b.Flags = append(b.Flags, "--no-unix-sockets")
	}
	if len(c.GrantedBy) == 0 {
		return b
	}
	if c.NestedUserns != "" {
		b.Flags = append(b.Flags, "--allow-nested-userns="+c.NestedUserns)
	}
	if c.EnvFiles != "" {
		b.Flags = append(b.Flags, "--env-files", c.EnvFiles)
	}
	if c.GitSigning != "" {
		b.Flags = append(b.Flags, "--git-signing", c.GitSigning)
	}
	if c.Network.Mode != "" {
		b.Flags = append(b.Flags, "--net", c.Network.Mode)
	}
	if c.Network.Mode == "proxy" {
		add("--allow-domain", c.Network.AllowDomains)
		add("--deny-domain", c.Network.DenyDomains)
		if c.Network.SNI != "" {
			add("--sni", []string{c.Network.SNI})
		}
		if c.Network.CABundle != "" {
			add("--ca-bundle", []string{c.Network.CABundle})
		}
		add("--allow-request", c.Network.AllowRequests)
		add("--inject", c.Network.Inject)
	}
	add("--ro", c.ReadPaths)
	add("--rw", slices.DeleteFunc(slices.Clone(c.WritePaths), func(p string) bool { return p == "." }))
	add("--deny-read", c.DenyReadPaths)
	add("--deny-write", c.DenyWritePaths)
	return b
}

// beside returns the path of a program in the same directory as this one, or its bare name if it is
// not there. This avoids the agent's PATH if possible.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return name
	}
	return path
}
