package explain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// Grant is one value of a list in a repo_config.yaml, and how recorded runs
// used it.
type Grant struct {
	Key, Value string // as written there: read_paths, ~/data
	Tool       string // for a name under network_tools: the tool that may reach it
	Runs       int    // runs that had the grant
	Known      int    // those of which the use is known
	Used       int    // those that used it
	Written    int    // those that wrote there

	line int
}

// Unused reports whether no run that had the grant used it.
func (g *Grant) Unused() bool { return g.Known > 0 && g.Used == 0 }

// OnlyRead reports whether a writable path was only read.
func (g *Grant) OnlyRead() bool { return g.Key == writable && g.Used > 0 && g.Written == 0 }

const writable = "read_write_paths"

// Tally counts over recorded runs which parts of a configuration were used.
type Tally struct {
	Runs, Observed int
	Grants         []*Grant
	// Unread lists keys in a form that is not parsed: their values are not
	// counted.
	Unread []string

	resolve func(declared string) string
	lines   []string
}

var (
	toolEntry = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*- \{tool: ([\w.-]+), allow_domains: \[([^\]]*)\]\}\s*$`)
	}}
	listItem = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s+- (.*)$`) }}
	listKey  = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^\s+(read_paths|read_write_paths|unix_sockets|network_tools):\s*(.*)$`)
	}}
)

// NewTally parses the lists in the text of a repo_config.yaml, one item per
// line. resolve returns where a declared path leads, without symbolic links.
func NewTally(text string, resolve func(declared string) string) *Tally {
	t := &Tally{resolve: resolve, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	key := ""
	for i, line := range t.lines {
		if m := listKey.Get().FindStringSubmatch(line); m != nil {
			if key = m[1]; m[2] != "" && m[2][0] != '#' {
				t.Unread = append(t.Unread, key)
				key = ""
			}
			continue
		}
		switch said := strings.TrimSpace(line); {
		case key == "" || said == "" || said[0] == '#':
		case !strings.HasPrefix(line, " "):
			key = ""
		case key == "network_tools":
			t.tool(i, line)
		default:
			item := listItem.Get().FindStringSubmatch(line)
			if item == nil {
				key = ""
				continue
			}
			value, _, _ := strings.Cut(item[1], " #")
			value = strings.TrimSpace(value)
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
			t.Grants = append(t.Grants, &Grant{Key: key, Value: value, line: i})
		}
	}
	return t
}

// tool parses the names of an entry that [Patch] could have written.
func (t *Tally) tool(at int, line string) {
	m := toolEntry.Get().FindStringSubmatch(line)
	if m == nil {
		return
	}
	for name := range strings.SplitSeq(m[2], ",") {
		if name = strings.Trim(strings.TrimSpace(name), `"'`); name != "" {
			t.Grants = append(t.Grants, &Grant{Key: "network_tools", Value: name, Tool: m[1], line: at})
		}
	}
}

// Add counts a run of a tool.
func (t *Tally) Add(tool string, c *record.Capabilities, s *record.Sandbox, observed bool) {
	t.Runs++
	if observed {
		t.Observed++
	}
	for _, g := range t.Grants {
		if g.Key == "network_tools" {
			g.reached(tool, c, s)
			continue
		}
		have := map[string][]string{"read_paths": c.ReadPaths, writable: c.WritePaths, "unix_sockets": c.UnixSockets}[g.Key]
		if !slices.Contains(have, g.Value) {
			continue
		}
		if g.Runs++; !observed {
			continue
		}
		g.Known++
		path := t.resolve(g.Value)
		if i := slices.IndexFunc(s.Used, func(u record.Use) bool { return u.Path == path }); i >= 0 {
			g.Used++
			if s.Used[i].Write {
				g.Written++
			}
		}
	}
}

// reached counts a run that could have reached a name. Its connections are
// known, unless it was part of a session, whose network is shared by all its
// commands.
func (g *Grant) reached(tool string, c *record.Capabilities, s *record.Sandbox) {
	if tool != g.Tool || c.Network.Mode != "proxy" || !slices.Contains(c.Network.AllowDomains, g.Value) {
		return
	}
	g.Runs++
	if slices.ContainsFunc(s.Connections, func(o record.Connection) bool { return o.Allowed && o.Rule == g.Value }) {
		g.Known++
		g.Used++
	} else if s.ConnectionsMore == 0 && s.Session == "" {
		g.Known++
	}
}

// Patch removes from the configuration what was never used, and makes read-only
// what was never written. ok is false if there is nothing to change.
func (t *Tally) Patch(name string) (changed, diff string, ok bool) {
	removed, inserted := map[int]bool{}, map[int][]string{}
	var read []string
	for _, g := range t.Grants {
		switch {
		case g.Key == "network_tools":
		case g.OnlyRead():
			read = append(read, strings.TrimLeft(t.lines[g.line], " -"))
			removed[g.line] = true
		case g.Unused():
			removed[g.line] = true
		}
	}
	t.narrowTools(removed, inserted)
	if len(removed) == 0 {
		return "", "", false
	}
	if len(read) > 0 {
		section := slices.IndexFunc(t.lines, func(l string) bool { return strings.HasPrefix(l, "sandbox:") })
		if !insert(t.lines, section, "read_paths", read, inserted, removed) {
			return "", "", false
		}
	}
	t.emptied(removed, inserted)
	changed, diff = unified(name, t.lines, inserted, removed)
	return changed, diff, true
}

// narrowTools keeps, in each entry of network_tools, the names that were used
// or whose use is not known.
func (t *Tally) narrowTools(removed map[int]bool, inserted map[int][]string) {
	kept, unused := map[int][]string{}, map[int]bool{}
	for _, g := range t.Grants {
		switch {
		case g.Key != "network_tools":
		case g.Unused():
			unused[g.line] = true
		default:
			kept[g.line] = append(kept[g.line], strconv.Quote(g.Value))
		}
	}
	for line := range unused {
		removed[line] = true
		if names := kept[line]; len(names) > 0 {
			from, to := strings.Index(t.lines[line], "[")+1, strings.Index(t.lines[line], "]")
			inserted[line] = append(inserted[line], t.lines[line][:from]+strings.Join(names, ", ")+t.lines[line][to:])
		}
	}
}

// emptied removes keys whose lists have no items left, and then a section
// without keys.
func (t *Tally) emptied(removed map[int]bool, inserted map[int][]string) {
	for at := len(t.lines) - 1; at >= 0; at-- {
		key := listKey.Get().FindStringSubmatch(t.lines[at])
		list := key != nil && key[2] == "" || strings.TrimSpace(t.lines[at]) == "sandbox:"
		if removed[at] || !list {
			continue
		}
		if next, ok := t.after(at, removed, inserted); !ok || indented(next) < indented(t.lines[at]) ||
			indented(next) == indented(t.lines[at]) && !strings.HasPrefix(strings.TrimSpace(next), "- ") {
			removed[at] = true
		}
	}
}

// after returns the next line that has content and stays.
func (t *Tally) after(at int, removed map[int]bool, inserted map[int][]string) (string, bool) {
	for i := at + 1; i <= len(t.lines); i++ {
		if len(inserted[i]) > 0 {
			return inserted[i][0], true
		}
		if i < len(t.lines) && !removed[i] && strings.Trim(t.lines[i], " ") != "" && !strings.HasPrefix(strings.TrimSpace(t.lines[i]), "#") {
			return t.lines[i], true
		}
	}
	return "", false
}

func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
