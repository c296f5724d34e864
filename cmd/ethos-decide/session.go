package main

import (
	"slices"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/hook"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// autoSession is the value of --session for one session per agent session.
const autoSession = "auto"

// The reasons for which a call has a boundary of its own instead of a shared
// one.
const (
	aloneNoID    = "the event names no session"
	aloneNetwork = "its network differs from the session's"
	aloneLess    = "it may use less than the session"
	aloneProof   = "its result must prove something, and other commands in a session could change what it reads"
)

// checkSession returns an error for a --session that no call could join. With
// --confine=no, which disables the boundary in a hook, options about the
// boundary have no effect.
func (c *decideCmd) checkSession() error {
	if c.Confine == confineNo {
		return nil
	}
	if c.Tree && !c.wraps() {
		return cli.Errorf(cli.Usage, "add --confine: ethos-sandbox records the content", "--tree needs --confine")
	}
	switch {
	case c.Session == "" || c.wraps() && hook.IsSessionName(c.Session):
		return nil
	case !c.wraps():
		return cli.Errorf(cli.Usage, "add --confine: --session names the session that a confined call runs in", "--session needs --confine")
	}
	return cli.Errorf(cli.Usage, "use auto, or the name that ethos-sandbox session start printed", "--session: %q is not a valid name of a session", c.Session)
}

// sessionOf returns the session that a call joins. alone is the reason if it
// joins none: it may use more than the others, or less, and a session has only
// one boundary.
func (c *decideCmd) sessionOf(in *policy.Input) (name, alone string) {
	if c.Session != autoSession || in.Facts == nil {
		return c.Session, ""
	}
	have := &in.Facts.Capabilities
	switch {
	case in.Actor.Mode == record.ModePlan, in.Actor.Parent != nil && in.Actor.Parent.Capabilities != nil, have.Network.Mode == "none", have.SandboxProfile == "":
		return "", aloneLess
	case have.Network.Mode != "loopback":
		return "", aloneNetwork
	case c.proves(in):
		return "", aloneProof
	}
	name = hook.SessionName(in.Actor, append([]string{in.Action.Workspace}, shared(in.Facts).Flags...)...)
	if name == "" {
		return "", aloneNoID
	}
	return name, ""
}

// shared returns the boundary for the calls of an agent itself and of build
// tools. The profiles of build tools equal the agent's except for what they see
// of git. They share the agent's boundary, so that a server started by one is
// reachable for the others.
func shared(f *record.Facts) hook.Boundary {
	chosen := func(by string) bool { return strings.HasPrefix(by, "--profile ") }
	if slices.ContainsFunc(f.Capabilities.GrantedBy, chosen) {
		return boundaryOf(f)
	}
	as := *f
	as.Capabilities.SandboxProfile = capability.AgentProfile
	return boundaryOf(&as)
}

// noSession returns a notice, once per agent and workspace, that the events
// name no session.
func (c *decideCmd) noSession(l *decide.Library, v *decide.Verdict, now time.Time) string {
	_, alone := c.sessionOf(&policy.Input{Action: &v.Action, Actor: &v.Actor, Facts: v.Facts})
	said := record.Configuration{Path: v.Action.Workspace, Digest: aloneNoID}
	if alone != aloneNoID || !l.Memory.Once("--session "+v.Actor.Agent, said, now) {
		return ""
	}
	return "--session auto: " + aloneNoID + ", so each call has a boundary of its own"
}
