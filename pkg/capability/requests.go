package capability

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/egress/rule"
)

// Injection is a credential that a command can use without having it. The command gets a
// placeholder value in a variable. If it sends that value in one header field to one host, the
// proxy replaces it by the caller's value of the variable. The text form is
//
//	api.example.com Authorization=API_TOKEN
//	http://registry.example X-Token=TOKEN      also without TLS
type Injection struct {
	Host   rule.Host
	Header string
	Env    string // the variable, in the caller's environment and inside
	Plain  bool   // also into requests without TLS
}

// ParseInjection parses the text form.
func ParseInjection(text string) (Injection, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return Injection{}, errors.New(`write a credential as "api.example.com Authorization=API_TOKEN"`)
	}
	var j Injection
	name, plain := strings.CutPrefix(words[0], "http://")
	host, err := rule.ParseHost(name)
	if err == nil && host.Name() == "" {
		err = errors.New("name the host")
	}
	if err != nil {
		return j, fmt.Errorf("credential for %.100q: %w", words[0], err)
	}
	j.Host, j.Plain = host, plain
	j.Header, j.Env, _ = strings.Cut(words[1], "=")
	switch {
	case !only(j.Header, "-") || slices.ContainsFunc(framing, func(h string) bool { return strings.EqualFold(h, j.Header) }):
		return j, fmt.Errorf("credential for %s: %.100q is not a header field that can carry one", host, j.Header)
	case !only(j.Env, "_") || j.Env[0] >= '0' && j.Env[0] <= '9':
		return j, fmt.Errorf("credential for %s: %.100q is not the name of a variable", host, j.Env)
	}
	return j, nil
}

// framing are header fields that determine how a request is parsed.
var framing = []string{"Host", "Connection", "Content-Length", "Content-Type", "Expect", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// only reports whether a word consists of letters, digits and one further character.
func only(word, sign string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && string(r) != sign
	}
	return word != "" && !strings.ContainsFunc(word, other)
}

// String returns the text form.
func (j Injection) String() string {
	scheme := ""
	if j.Plain {
		scheme = "http://"
	}
	return scheme + j.Host.String() + " " + j.Header + "=" + j.Env
}

func checkRequest(text string) error {
	_, err := rule.ParseEndpoint(text)
	return err
}

func checkInjection(text string) error {
	_, err := ParseInjection(text)
	return err
}

// endpoints returns the rules of a list that can be parsed, and the text of the others.
func endpoints(list []string) (rules rule.Endpoints, unread []string) {
	for _, text := range list {
		if e, err := rule.ParseEndpoint(text); err == nil {
			rules = append(rules, e)
		} else {
			unread = append(unread, text)
		}
	}
	return rules, unread
}

// meetAuthority takes the parent's value, because a child does not choose whose certificates a
// command trusts.
func meetAuthority(f *field, into, a, _ *Set) {
	if into.Network.Mode == "proxy" {
		*of[string](f, into) = *of[string](f, a)
	}
}

func exceedsAuthority(f *field, parent, child *Set) (value, bound string, more bool) {
	value, bound = *of[string](f, child), *of[string](f, parent)
	return value, bound, child.Network.Mode == "proxy" && value != "" && value != bound
}

// meetRequests denies the hosts of rules for which the authority is lost that is needed to judge
// requests. A rule that cannot be parsed stays, and is refused later.
func meetRequests(f *field, into, a, b *Set) {
	if into.Network.Mode != "proxy" {
		return
	}
	x, unreadX := endpoints(*of[[]string](f, a))
	y, unreadY := endpoints(*of[[]string](f, b))
	rules := x.Meet(y)
	*of[[]string](f, into) = union(rules.Strings(), unreadX, unreadY)
	if into.Network.CABundle == "" {
		for _, e := range rules {
			into.Network.DenyDomains = union(into.Network.DenyDomains, []string{e.Host.String()})
		}
	}
}

func exceedsRequests(f *field, parent, child *Set) (value, bound string, more bool) {
	if child.Network.Mode != "proxy" {
		return "", "", false
	}
	limit, unread := endpoints(*of[[]string](f, parent))
	have, other := endpoints(*of[[]string](f, child))
	return listExcess(append(have.Beyond(limit), missing(unread, other)...), *of[[]string](f, parent))
}

func meetInjections(f *field, into, a, b *Set) {
	if into.Network.Mode == "proxy" {
		meetNames(f, into, a, b)
	}
}
