package catalog

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/record"
)

// grantKind is a capability that --grant can widen, with what follows its name.
type grantKind struct {
	name, value string
	apply       func(*record.Capabilities, string) error
}

var grantKinds = []grantKind{
	{"network", "none|loopback|proxy|host", grantNetwork},
	{"domain", "PATTERN", grantDomain},
	{"read", "PATH", grantRead},
	{"write", "PATH", grantWrite},
	{"cache", "PATH", func(c *record.Capabilities, v string) error { return addTo(&c.CachePaths, v) }},
	{"socket", "PATH", func(c *record.Capabilities, v string) error { return addTo(&c.UnixSockets, v) }},
	{"env", "NAME[=VALUE]", grantEnv},
	{"git", "none|read|wrapped|full", func(c *record.Capabilities, v string) error { c.Git = v; return check(*c) }},
	{"timeout", "DURATION", grantTimeout},
	{"memory", "MEGABYTES", func(c *record.Capabilities, v string) error { return number(&c.MemoryMB, v) }},
	{"cpu", "PERCENT", func(c *record.Capabilities, v string) error { return number(&c.CPUQuotaPercent, v) }},
	{"pids", "N", func(c *record.Capabilities, v string) error { return number(&c.Pids, v) }},
	{"files", "N", func(c *record.Capabilities, v string) error { return number(&c.OpenFiles, v) }},
	{"output", "BYTES", func(c *record.Capabilities, v string) error { return number(&c.OutputBytes, v) }},
}

// GrantForms lists what [Grant] understands, for help: network=none|loopback|proxy|host and so on.
func GrantForms() (out []string) {
	for _, k := range grantKinds {
		out = append(out, k.name+"="+k.value)
	}
	return out
}

// Grant widens c by one capability, written NAME=VALUE as in [GrantForms], and notes it in GrantedBy.
func Grant(c *record.Capabilities, text string) error {
	name, value, ok := strings.Cut(text, "=")
	i := slices.IndexFunc(grantKinds, func(k grantKind) bool { return k.name == name })
	if i < 0 || !ok || value == "" {
		return fmt.Errorf("grant %q is not one of %s", text, strings.Join(GrantForms(), ", "))
	}
	if err := grantKinds[i].apply(c, value); err != nil {
		return fmt.Errorf("grant %s: %w", text, err)
	}
	*c = derive(*c)
	c.GrantedBy = append(c.GrantedBy, "--grant "+text)
	return nil
}

func grantNetwork(c *record.Capabilities, mode string) error {
	c.Network.Mode = mode
	if mode != "proxy" {
		c.Network.AllowDomains = []string{}
	}
	return check(*c)
}

// grantDomain lets one domain be reached, and turns the proxy on for it.
func grantDomain(c *record.Capabilities, pattern string) error {
	if c.Network.Mode == "none" || c.Network.Mode == "loopback" {
		c.Network.Mode = "proxy"
	}
	return addTo(&c.Network.AllowDomains, pattern)
}

func grantRead(c *record.Capabilities, p string) error {
	c.AllowReadWithinDeny = append(c.AllowReadWithinDeny, within(c.DenyReadPaths, p)...)
	return addTo(&c.ReadPaths, p)
}

// within is the path when it lies below one of the denied ones, so that a grant is not without effect.
func within(denied []string, p string) []string {
	for _, d := range denied {
		if strings.HasPrefix(path.Clean(p), path.Clean(d)+"/") {
			return []string{p}
		}
	}
	return nil
}

func grantWrite(c *record.Capabilities, p string) error {
	if exposesGit(path.Clean(p)) {
		return fmt.Errorf("git's own files are never writable by declaration")
	}
	return addTo(&c.WritePaths, p)
}

func grantEnv(c *record.Capabilities, text string) error {
	name, value, set := strings.Cut(text, "=")
	if name == "" {
		return fmt.Errorf("the variable has no name")
	}
	if set {
		c.Env.Set[name] = value
		return nil
	}
	return addTo(&c.Env.Pass, name)
}

// grantTimeout takes seconds, or a duration such as 10m.
func grantTimeout(c *record.Capabilities, text string) error {
	if err := number(&c.TimeoutSeconds, text); err == nil {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return fmt.Errorf("want seconds, or a duration such as 10m")
	}
	c.TimeoutSeconds = int64(d / time.Second)
	return nil
}

func number(to *int64, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("want a whole number above 0")
	}
	*to = n
	return nil
}

func addTo(list *[]string, value string) error {
	if !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
	return nil
}
