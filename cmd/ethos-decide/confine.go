package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/hook"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// sandboxProgram is what a confined call runs.
const sandboxProgram = "ethos-sandbox"

// confined is the member of a record that says what became of --confine.
type confined struct {
	Applied bool   `json:"applied"`
	Reason  string `json:"reason,omitempty"`  // why not
	Session string `json:"session,omitempty"` // whose boundary it is in
	Alone   string `json:"alone,omitempty"`   // with --session: why it has a boundary of its own
}

// confine makes the input of an allowed shell call that runs inside the sandbox, and notes in the record whether it did. A call that stays as it is runs as it
// would without --confine.
func (c *decideCmd) confine(l *record.Line, v *verdict) (json.RawMessage, error) {
	if !c.Confine || v.action.Kind != record.KindShell && v.action.Kind != record.KindExec {
		return nil, nil
	}
	var note confined
	input, err := json.RawMessage(nil), errors.New("the call is not allowed")
	if allows(v.decision.Verdict) {
		input, err = c.inside(&policy.Input{Action: &v.action, Actor: &v.actor, Facts: v.facts})
	}
	if note.Applied = err == nil; err != nil {
		note.Reason = err.Error()
	} else if c.Session != "" {
		note.Session, note.Alone = c.sessionOf(&policy.Input{Action: &v.action, Actor: &v.actor, Facts: v.facts})
	}
	return input, l.Set("confine", note)
}

// inside makes the input that runs a call inside the sandbox. The error is
// [hook.ErrConfined] for one that is there without that.
func (c *decideCmd) inside(in *policy.Input) (json.RawMessage, error) {
	if trust.Inside(os.DirFS("/proc")) {
		return nil, hook.ErrConfined
	}
	if in.Actor == nil || in.Facts == nil {
		return nil, errors.New("the record has no facts")
	}
	return hook.Confine(c.Reply, in.Actor.Event, in.Action, c.boundary(in))
}

// confines reports whether the answer puts a call inside the sandbox, or it is
// there.
func (c *decideCmd) confines(in *policy.Input) bool {
	_, err := c.inside(in)
	return err == nil || errors.Is(err, hook.ErrConfined)
}

func allows(verdict string) bool {
	return verdict == record.VerdictAllow || verdict == record.VerdictWarn
}

// boundary is what the answer puts a call in.
func (c *decideCmd) boundary(in *policy.Input) hook.Boundary {
	b := boundaryOf(in.Facts)
	if c.Session == "" {
		return b
	}
	name, alone := c.sessionOf(in)
	switch {
	case alone != "":
	case c.Session == autoSession:
		b.Flags = append([]string{"--session", "auto:" + name}, shared(in.Facts).Flags...)
	default: // what the person gave it counts
		b.Flags = []string{"--session", name}
	}
	return b
}

// boundaryOf is the boundary that the facts put in force: the profile, and what was granted beyond it.
func boundaryOf(f *record.Facts) hook.Boundary {
	b := hook.Boundary{Program: beside(sandboxProgram)}
	c := &f.Capabilities
	if c.SandboxProfile != "" {
		b.Flags = append(b.Flags, "--profile", c.SandboxProfile)
	}
	if c.Enforce == "cgroup" {
		b.Flags = append(b.Flags, "--require", "cgroup")
	}
	if len(c.GrantedBy) == 0 {
		return b
	}
	if c.Network.Mode != "" {
		b.Flags = append(b.Flags, "--net", c.Network.Mode)
	}
	add := func(flag string, values []string) {
		for _, v := range values {
			b.Flags = append(b.Flags, flag, v)
		}
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

// beside is the path of a program that was installed with this one, its bare name when it was not. The agent's PATH has no say where it can be helped.
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
