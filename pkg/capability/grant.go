package capability

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/protected"
)

// grant is the form in which a person widens one field: --grant NAME=VALUE.
type grant struct {
	name, form string                           // the text before the "=", and the form of the value after it
	take       func(s *Set, value string) error // nil: as [field.take]
}

// GrantForms lists the forms that [Grant] accepts, for help texts: network=none|loopback|proxy|host
// and so on.
func GrantForms() (out []string) {
	for _, f := range grantable() {
		out = append(out, f.grant.name+"="+cmp.Or(f.grant.form, strings.Join(f.words, "|")))
	}
	return out
}

// grantable returns the fields that a person can widen. Those of the network come first, because
// most grants are for them.
func grantable() (out []*field) {
	for _, network := range []bool{true, false} {
		for i := range fields {
			if f := &fields[i]; f.grant.name != "" && strings.HasPrefix(f.name, "network.") == network {
				out = append(out, f)
			}
		}
	}
	return out
}

// Grant widens a set by one capability, written NAME=VALUE as in [GrantForms], and records it in
// GrantedBy.
func Grant(s *Set, text string) error {
	name, value, ok := strings.Cut(text, "=")
	list := grantable()
	i := slices.IndexFunc(list, func(f *field) bool { return f.grant.name == name })
	if i < 0 || !ok || value == "" {
		return fmt.Errorf("grant %q is not one of %s", text, strings.Join(GrantForms(), ", "))
	}
	f := list[i]
	take := f.grant.take
	if take == nil {
		take = f.take
	}
	err := take(s, value)
	if err == nil {
		err = check(*s)
	}
	if err != nil {
		return fmt.Errorf("grant %s: %w", text, err)
	}
	*s = Derive(*s)
	s.GrantedBy = append(s.GrantedBy, "--grant "+text)
	return nil
}

func grantNetwork(s *Set, mode string) error {
	s.Network.Mode = mode
	s.Network = ofProxy(s.Network)
	return nil
}

// grantDomain allows one domain, and enables the proxy for it.
func grantDomain(s *Set, pattern string) error {
	if s.Network.Mode == "none" || s.Network.Mode == "loopback" {
		s.Network.Mode = "proxy"
	}
	return addTo(&s.Network.AllowDomains, pattern)
}

// grantRead also removes a deny around the path, so that the grant has an effect.
func grantRead(s *Set, p string) error {
	if err := noCredentials(p); err != nil {
		return err
	}
	for _, d := range s.DenyReadPaths {
		if strings.HasPrefix(path.Clean(p), path.Clean(d)+"/") {
			s.AllowReadWithinDeny = append(s.AllowReadWithinDeny, p)
			break
		}
	}
	return addTo(&s.ReadPaths, p)
}

func grantWrite(s *Set, p string) error {
	if InGit(path.Clean(p)) {
		return fmt.Errorf("no declaration can make git's own files writable")
	}
	if err := noCredentials(p); err != nil {
		return err
	}
	return addTo(&s.WritePaths, p)
}

// noCredentials refuses paths that are hidden from every command, whatever was granted.
func noCredentials(p string) error {
	if below, ok := strings.CutPrefix(path.Clean(p), "~/"); ok && protected.HoldsCredentials(below) {
		return fmt.Errorf("%s holds credentials, which are hidden from every command: pass the one value that it needs with --grant env=NAME", p)
	}
	return nil
}

func grantEnv(s *Set, text string) error {
	name, value, set := strings.Cut(text, "=")
	if name == "" {
		return fmt.Errorf("the variable name is empty")
	}
	if set {
		s.Env.Set[name] = value
		return nil
	}
	return addTo(&s.Env.Pass, name)
}

// grantTimeout accepts seconds, or a duration such as 10m.
func grantTimeout(s *Set, text string) error {
	if err := number(&s.TimeoutSeconds, text); err == nil {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return fmt.Errorf("use seconds, or a duration such as 10m")
	}
	s.TimeoutSeconds = int64(d / time.Second)
	return nil
}

// take sets a field from text: a word, a number above 0, or one more entry of a list.
func (f *field) take(s *Set, text string) error {
	switch value := f.at(s).(type) {
	case *[]string:
		return addTo(value, text)
	case *int64:
		return number(value, text)
	case *string:
		*value = text
		return nil
	}
	panic("capability: " + f.name + " has no text form") // an error in the table
}

func number(to *int64, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return fmt.Errorf("use a whole number above 0")
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
