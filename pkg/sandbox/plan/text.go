package plan

import (
	"fmt"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/sandbox/kernel/mount"
)

// Text describes the plan for people.
func (p *Plan) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		b.WriteString(printable.Sprintf("%-12s "+format+"\n", append([]any{name}, args...)...))
	}
	line("command", "%s", p.command())
	line("profile", "%s", p.Profile)
	if p.Backend != "" {
		line("backend", "%s", p.Backend)
	}
	line("work space", "%s", p.Workspace)
	line("directory", "%s", p.Dir)
	if p.View != nil {
		line("view", "copy-on-write: %s", strings.Join(p.View.Roots, " "))
	}
	line("namespaces", "%s", strings.Join(p.Namespaces, " "))
	line("network", "%s", p.Network)
	for _, list := range []struct {
		name  string
		hosts []string
	}{{"allowed", p.AllowDomains}, {"denied", p.DenyDomains}} {
		if len(list.hosts) > 0 {
			line(list.name, "%s", strings.Join(list.hosts, " "))
		}
	}
	p.egressText(line)
	if p.Ports != nil {
		line("ports", "%s", p.Ports)
	}
	if p.NoUnixSockets {
		line("unix sockets", "none but pairs")
	}
	if p.NestedUserns != "" {
		line("nested", "user namespaces: %s", p.NestedUserns)
	}
	if len(p.DenyExec) > 0 {
		line("no execution", "%s", strings.Join(p.DenyExec, " "))
	}
	for _, published := range p.Publish {
		line("published", "%s", published)
	}
	if len(p.Descriptors) > 0 {
		line("descriptors", "0 1 2 and %s", strings.Trim(fmt.Sprint(p.Descriptors), "[]"))
	}
	line("seccomp", "%s", p.SeccompText())
	line("limits", "%s", p.Limits.Text())
	if len(p.Require) > 0 {
		line("required", "%s", strings.Join(p.Require, " "))
	}
	p.placesText(&b)
	b.WriteString("\nenvironment\n")
	for _, e := range p.Env {
		b.WriteString(printable.Sprintf("  %s\n", e))
	}
	for _, n := range p.Notes {
		b.WriteString(printable.Sprintf("\nnote         %s: %s\n", n.About, n.Reason))
	}
	return b.String()
}

// placesText prints the paths, the Landlock grants and the mounts.
func (p *Plan) placesText(b *strings.Builder) {
	b.WriteString("\npaths (from here down, until a deeper line)\n")
	for _, e := range p.Paths {
		b.WriteString(printable.Sprintf("  %-8s %s  (%s%s)\n", e.Access, e.Path, e.Why, missing(e)))
	}
	if len(p.Grants) > 0 {
		b.WriteString("\ngranted by Landlock, with all that is below (read, list, execute, write, make, control)\n")
	}
	for _, g := range p.Grants {
		b.WriteString(printable.Sprintf("  %-7s %s\n", g.Rights, g.Path))
	}
	b.WriteString("\nmounts, in order\n")
	for _, m := range p.Mounts {
		b.WriteString(printable.Sprintf("  %-9s %s  %s\n", m.Kind, m.Target, mountText(m)))
	}
}

// egressText prints what is judged besides names.
func (p *Plan) egressText(line func(name, format string, args ...any)) {
	if p.Egress == nil {
		return
	}
	if p.Egress.SNI != "" {
		line("sni", "%s: a TLS client may hide or misstate the server that it names", p.Egress.SNI)
	}
	o := p.Egress.Open
	if o == nil {
		return
	}
	if o.CABundle != "" {
		line("opened", "%s, by %s", strings.Join(o.Opened(), " "), o.CABundle)
	}
	for _, rule := range o.Requests {
		line("requests", "%s", rule)
	}
	for _, j := range o.Inject {
		line("credential", "%s for %s, in %s", j.Env, j.Host, j.Header)
	}
}

// command returns what runs; the plan of a session has no command.
func (p *Plan) command() string {
	if len(p.Argv) == 0 {
		return "those of the session"
	}
	return fmt.Sprintf("%q", p.Argv)
}

func missing(e Entry) string {
	if e.Exists {
		return ""
	}
	return ", missing"
}

func mountText(m mount.Mount) string {
	switch {
	case m.Kind == mount.Symlink:
		return "-> " + m.Source
	case m.Kind == mount.Link:
		return "-> " + m.Source + ", a private copy"
	case m.Kind == mount.Overlay && m.Source == "":
		return "copy-on-write over an empty directory"
	case m.Kind == mount.Overlay:
		return "copy-on-write over " + m.Source
	case m.Writable:
		return "rw " + m.Why
	}
	return "ro " + m.Why
}
