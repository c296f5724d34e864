package policy

import (
	"fmt"
	"slices"
	"strings"

	netrule "ethos/pkg/egress/rule"
	"ethos/pkg/netargs"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// hostsOf lists the machines that a command names, each once.
func hostsOf(c *record.Command) []string {
	hosts := []string{}
	for _, t := range netargs.Read(c).Targets {
		if h := t.Host.String(); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

func isRemote(c *record.Command) bool {
	r := netargs.Read(c)
	return r.Remote()
}

// reading returns what a command says about the hosts that it connects to. Of an unknown program
// only the variables are known.
func reading(c *record.Command) netargs.Reading {
	if r := netargs.Read(c); r.Known {
		return r
	}
	return netargs.Variables(c)
}

func connections(s *record.Shell, git []record.Git) (all []netargs.Reading) {
	for i := range s.Commands {
		all = append(all, reading(&s.Commands[i]))
	}
	for i := range git {
		all = append(all, netargs.ReadGit(&git[i]))
	}
	return all
}

// unlisted lists the hosts that a script names and that the network lists do not allow, each once.
// The loopback does not count, because the command has its own.
func unlisted(s *record.Shell, git []record.Git, n *record.Network) []string {
	rules, readable := rulesOf(n)
	out := []string{}
	for _, r := range connections(s, git) {
		for _, t := range r.Targets {
			if !t.Loopback() && (!readable || !allowed(rules, t)) && !slices.Contains(out, t.String()) {
				out = append(out, t.String())
			}
		}
	}
	return out
}

// rulesOf converts the lists to rules. An allow pattern that cannot be parsed allows nothing; a
// deny pattern that cannot be parsed could mean any host.
func rulesOf(n *record.Network) (r netrule.Rules, readable bool) {
	for _, text := range n.AllowDomains {
		if p, err := netrule.ParsePattern(text); err == nil {
			r.Allow = append(r.Allow, p)
		}
	}
	deny, err := netrule.ParseSet(n.DenyDomains)
	r.Deny = deny
	return r, err == nil
}

func allowed(r netrule.Rules, t netargs.Target) bool {
	if t.Port == 0 {
		return r.Query(t.Host).Allowed
	}
	return r.Destination(t.Host, t.Port).Allowed
}

// unseen lists the parts of a script that connect to a host that its words do not show: an option,
// a variable or a program, each once.
func unseen(s *record.Shell, git []record.Git) []string {
	out := []string{}
	for _, r := range connections(s, git) {
		for _, by := range r.Hidden {
			if !slices.Contains(out, by) {
				out = append(out, by)
			}
		}
	}
	return out
}

// blanks are the placeholders, in braces, that can occur in a message or a remedy. Without a record
// they have a general text.
var blanks = []struct {
	name string
	fill func(*Input) string
}{
	{"{needs}", fillNeeds}, {"{unlisted}", fillUnlisted}, {"{unseen}", fillUnseen}, {"{declare}", fillDeclare}, {"{allow}", fillAllow},
	{"{origins}", fillOrigins}, {"{executed}", fillExecuted},
}

// filled replaces the placeholders of a text from a record; nil is no record.
func filled(text string, in *Input) string {
	for _, b := range blanks {
		if strings.Contains(text, b.name) {
			text = strings.ReplaceAll(text, b.name, b.fill(in))
		}
	}
	return text
}

// Told returns the message and the remedy of a policy without a record.
func (p *Policy) Told() (message, remedy string) {
	return strings.ReplaceAll(filled(p.Message, nil), pathsBlank, ""), filled(p.Remedy, nil)
}

func fillUnlisted(in *Input) string {
	if in == nil {
		return "another place"
	}
	return strings.Join(unlisted(&in.Facts.Shell, in.Facts.Git, &in.Facts.Capabilities.Network), ", ")
}

func fillUnseen(in *Input) string {
	if in == nil {
		return "a program"
	}
	return strings.Join(unseen(&in.Facts.Shell, in.Facts.Git), ", ")
}

// fillNeeds says what needs the network, and which names.
func fillNeeds(in *Input) string {
	if in == nil {
		return ""
	}
	var all []string
	tell := func(name string, r netargs.Reading) {
		var places []string
		for _, t := range r.Targets {
			if !t.Loopback() {
				places = append(places, t.String())
			}
		}
		if len(places) > 0 {
			all = append(all, name+" connects to "+strings.Join(places, ", "))
		}
	}
	for i := range in.Facts.Shell.Commands {
		c := &in.Facts.Shell.Commands[i]
		tell(c.Name, reading(c))
	}
	for i := range in.Facts.Git {
		tell("git", netargs.ReadGit(&in.Facts.Git[i]))
	}
	if hidden := unseen(&in.Facts.Shell, in.Facts.Git); len(all) == 0 && len(hidden) > 0 {
		return ", and its words do not show where it connects (" + strings.Join(hidden, ", ") + ")"
	}
	if t := &in.Facts.Tool; len(all) == 0 && t.Capabilities.RequiresNetwork && len(t.Capabilities.Network.AllowDomains) > 0 {
		all = append(all, t.ID+" needs "+strings.Join(t.Capabilities.Network.AllowDomains, ", "))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, "; ")
}

// allowingEntry returns the line of repo_config.yaml that lets the tool of an action reach the
// hosts that its commands name, in addition to those that it may reach already. It is "" if there is
// no such line: the catalog has no tool for the action, or its words show no host.
func allowingEntry(in *Input) string {
	t, n := &in.Facts.Tool, record.Network{}
	switch {
	case in.Facts.Capabilities.Network.Mode == "proxy":
		n = in.Facts.Capabilities.Network
	case t.Category == "packages":
		n.AllowDomains = t.Capabilities.Network.AllowDomains
	}
	named := unlisted(&in.Facts.Shell, in.Facts.Git, &n)
	names := append(slices.Clone(n.AllowDomains), named...)
	if len(named) == 0 && len(unseen(&in.Facts.Shell, in.Facts.Git)) > 0 {
		return ""
	}
	if t.ID == "" || len(names) == 0 {
		return ""
	}
	return "{tool: " + t.ID + `, allow_domains: ["` + strings.Join(names, `", "`) + `"]}`
}

// fillDeclare says how a person lets the tool of an action reach the hosts that its commands name.
func fillDeclare(in *Input) string {
	entry := "an entry for the tool and the names"
	if in != nil {
		entry = allowingEntry(in)
	}
	if entry == "" {
		return "a person lets the call pass once with `ethos-decide approve` and its id, which `ethos-decide pending` lists"
	}
	alone := ""
	if in != nil && len(in.Facts.Shell.Commands) > 1 { // the entry is for the tool, not for what else a script runs
		alone = "give what connects in a call of its own, for which "
	}
	return alone + "a person writes " + entry + " under sandbox.network_tools in repo_config.yaml and accepts it with `ethos-decide trust`"
}

// fillAllow is fillDeclare for an action whose network access is already approved, possibly by
// flags.
func fillAllow(in *Input) string {
	if in != nil {
		places := unlisted(&in.Facts.Shell, in.Facts.Git, &in.Facts.Capabilities.Network)
		flags := slices.ContainsFunc(in.Facts.Capabilities.GrantedBy, func(by string) bool { return strings.HasPrefix(by, "--") })
		if flags && len(places) > 0 {
			return "a person adds " + grants(places)
		}
	}
	return fillDeclare(in)
}

func grants(names []string) string {
	for i := range names {
		names[i] = "--grant domain=" + names[i]
	}
	return strings.Join(names, " ")
}

// ofOrigin calls get for each file that would run and that nobody has reviewed, and lists the
// results.
func ofOrigin(in *Input, get func(*record.File) string) (list []string) {
	for i := range in.Facts.Files {
		if f := &in.Facts.Files[i]; f.Origin != nil && f.Origin.Executed && !f.Origin.Reviewed {
			if text := get(f); text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// fillOrigins says for each of these files which run has written it.
func fillOrigins(in *Input) string {
	if in == nil {
		return "a script"
	}
	list := ofOrigin(in, func(f *record.File) string {
		if f.Origin.Action == "" {
			return f.Path
		}
		return f.Path + ", written in " + f.Origin.Action
	})
	named := strings.Join(list[:min(maxPaths, len(list))], "; ")
	if more := len(list) - maxPaths; more > 0 {
		named += fmt.Sprintf("; and %d more", more)
	}
	return named
}

// fillExecuted returns these files as arguments of a command.
func fillExecuted(in *Input) string {
	if in == nil {
		return "FILE"
	}
	return strings.Join(ofOrigin(in, func(f *record.File) string { return printable.Word(f.Path) }), " ")
}
