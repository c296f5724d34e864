package trace

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ethos/pkg/lazy"
)

// rule finds secrets of one kind. Its expression is tried only near its anchors, lower-case words
// that every match contains.
type rule struct {
	kind    string
	anchors []string
	expr    func() *regexp.Regexp
	hosts   func() *regexp.Regexp // replaces expr in the names of hosts; nil means expr
	// secret returns the position of the secret in a match of FindStringSubmatchIndex; ok is false
	// if the match is not a secret.
	secret func(text string, match []int, prose bool) (s span, ok bool)
}

// rules are numbered by index; there can be as many as a ruleSet has bits.
var rules = lazy.Value[[]rule]{Make: func() []rule {
	return slices.Concat(formRules(), contextRules(), namedRules())
}}

// firstGroup returns a rule whose secret is the first group of its expression.
func firstGroup(kind, expr string, anchors ...string) rule {
	return rule{kind: kind, anchors: anchors, expr: deferred(expr), secret: func(_ string, m []int, _ bool) (span, bool) { return span{m[2], m[3], kind}, true }}
}

// unlessReference is like firstGroup, but skips values that only refer to a secret.
func unlessReference(kind, expr string, anchors ...string) rule {
	r := firstGroup(kind, expr, anchors...)
	r.secret = func(text string, m []int, _ bool) (span, bool) {
		return span{m[2], m[3], kind}, !reference(text[m[2]:m[3]])
	}
	return r
}

// deferred compiles an expression on first use, so that a program that meets no secret compiles none.
func deferred(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// formRule is like firstGroup, but also finds the secret in a host name: in any case, because host
// names lose theirs, and with the long labels that follow, because a label has at most 63 bytes
// (RFC 1035, section 2.3.4).
func formRule(kind, expr string, anchors ...string) rule {
	r := firstGroup(kind, expr, anchors...)
	r.hosts = deferred(`(?i)(` + expr + `(?:\.[a-z0-9_-]{16,63})*)`)
	return r
}

// formRules recognise a secret by its own form. Sources: the providers' published token formats.
func formRules() []rule {
	return []rule{
		formRule("aws-key", `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b`, "akia", "asia", "abia", "acca"),
		formRule("github-token", `\b(gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
		formRule("gitlab-token", `\b(glpat-[A-Za-z0-9_.-]{20,})`, "glpat-"),
		formRule("slack-token", `\b(xox[abeoprs]-[A-Za-z0-9-]{10,})`, "xox"),
		formRule("slack-webhook", `(hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,})`, "hooks.slack.com/"),
		formRule("google-key", `\b(AIza[A-Za-z0-9_-]{35})`, "aiza"),
		formRule("google-token", `\b(ya29\.[A-Za-z0-9_-]{20,})`, "ya29."),
		formRule("stripe-key", `\b((?:sk|rk)_live_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{20,})`, "k_live_", "whsec_"),
		formRule("ai-key", `\b(sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,})`, "sk-"),
		formRule("npm-token", `\b(npm_[A-Za-z0-9]{36})`, "npm_"),
		formRule("pypi-token", `\b(pypi-[A-Za-z0-9_-]{50,})`, "pypi-"),
		formRule("jwt", `\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`, "eyj"),
		formRule("sendgrid-key", `\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})`, "sg."),
		formRule("digitalocean-token", `\b(do[opr]_v1_[a-f0-9]{64})`, "_v1_"),
		formRule("huggingface-token", `\b(hf_[A-Za-z0-9]{30,})`, "hf_"),
		formRule("age-key", `\b(AGE-SECRET-KEY-1[0-9A-Z]{58})`, "age-secret-key-1"),
		formRule("shopify-token", `\b(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})`, "shpat_", "shpca_", "shppa_", "shpss_"),
		formRule("docker-token", `\b(dckr_pat_[A-Za-z0-9_-]{20,})`, "dckr_pat_"),
		formRule("vault-token", `\b(hv[sb]\.[A-Za-z0-9_-]{24,})`, "hvs.", "hvb."),
		formRule("service-token", `\b(lin_api_[A-Za-z0-9]{40}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|ops_eyJ[A-Za-z0-9_=-]{50,}|sntrys_[A-Za-z0-9_=-]{50,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})`,
			"lin_api_", "glsa_", "ops_eyj", "sntrys_", ".atlasv1."),
	}
}

// contextRules recognise a secret by what precedes it.
func contextRules() []rule {
	return []rule{
		unlessReference("url-credentials", `(?i)\b[a-z][a-z0-9+.-]*://[^/\s:@"'<>?#]*:([^\s/"'<>]+)@`, "://"),
		unlessReference("url-credentials", `(?i)\bhttps?://([^/\s:@"'<>?#]+)@`, "http://", "https://"),
		unlessReference("authorization", `(?i)\bauthorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)\s+)?([^\s"',;]+)`, "authorization"),
		firstGroup("bearer", `(?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*)`, "bearer"),
		unlessReference("cookie", `(?i)\b(?:set-)?cookie["']?\s*:\s*["']?([^"'\r\n]+)`, "cookie"),
		unlessReference("option", `(?i)\b(?:curl|wget)\b[^\n;|]*?\s(?:-u|--user|-U|--proxy-user)[\s=]*["']?[^\s:"']+:([^\s"']+)`, "curl", "wget"),
		unlessReference("option", `(?i)\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n;|]*?\s-p([^\s"']+)`, "mysql", "mariadb"),
		unlessReference("option", `(?i)\bsshpass\s+-p\s*["']?([^\s"']+)`, "sshpass"),
		unlessReference("option", `(?i)\b(?:docker|podman|helm|oras|crane)\s[^\n;|]*?login\b[^\n;|]*?\s-p[\s=]*["']?([^\s"']+)`, "login"),
		unlessReference("option", `(?i)\bredis-cli\b[^\n;|]*?\s-a\s+["']?([^\s"']+)`, "redis-cli"),
		unlessReference("option", `(?i)\bldap(?:search|modify|add|delete|passwd|whoami)\b[^\n;|]*?\s-w\s*["']?([^\s"']+)`, "ldap"),
		unlessReference("option", `(?i)\bsmbclient\b[^\n;|]*?\s-U\s*["']?[^\s%"']+%([^\s"']+)`, "smbclient"),
		unlessReference("option", `(?i)\bopenssl\b[^\n;|]*?-pass(?:in|out)?\s+["']?pass:([^\s"']+)`, "openssl"),
	}
}

// reading says how a text is interpreted. In prose, which is program output, a word after a
// secret-shaped name counts only if it looks like a secret itself; in a command any word does. In a
// text about hosts a name may contain a secret in lower case.
type reading struct{ prose, hosts bool }

// secrets returns the secrets in text, in order, without overlaps, and none inside a mark.
func (g reading) secrets(text string) []span {
	found := privateKeys(text)
	for i, windows := range anchors.look(text) {
		for _, w := range windows {
			found = append(found, rules.Get()[i].find(text, w, g)...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return separate(text, inOrder(found))
}

// inOrder sorts by start; of two with the same start the longer comes first.
func inOrder(found []span) []span {
	slices.SortFunc(found, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.kind, b.kind))
	})
	return found
}

// find returns the rule's secrets in a window. A match that reaches the end of the window is
// repeated with more of the text.
func (r rule) find(text string, w window, g reading) (found []span) {
	expr := r.expr
	if g.hosts && r.hosts != nil {
		expr = r.hosts
	}
	for w.from < w.to {
		m := expr().FindStringSubmatchIndex(text[w.from:w.to])
		if m == nil {
			return found
		}
		if w.from+m[1] == w.to && w.to < len(text) {
			w.to = min(w.to+2*(w.to-w.from), len(text))
			continue
		}
		for i := range m {
			m[i] += w.from
		}
		s, ok := r.secret(text, m, g.prose)
		if ok {
			found = append(found, s)
		}
		w.from = next(m, ok)
	}
	return found
}

// next returns where to continue: after a secret; or, after a match that is not one, inside the
// match, because a value may itself be NAME=value.
func next(m []int, secret bool) int {
	if secret || len(m) < 8 {
		return max(m[1], m[0]+1)
	}
	return m[6]
}

// separate drops matches that overlap an earlier one, and those that touch a mark, which were
// removed before. Only a private key may contain a mark.
func separate(text string, found []span) (out []span) {
	marks := marksIn(text)
	end := 0
	for _, f := range found {
		if f.from < end || f.from >= f.to || reference(text[f.from:f.to]) || f.touches(marks) {
			continue
		}
		out = append(out, f)
		end = f.to
	}
	return out
}

func (s span) touches(marks []span) bool {
	at, _ := slices.BinarySearchFunc(marks, s.from, func(m span, from int) int { return cmp.Compare(m.to, from+1) })
	for ; at < len(marks) && marks[at].from < s.to; at++ {
		if inside := s.from < marks[at].from && marks[at].to < s.to && s.kind == privateKind; !inside {
			return true
		}
	}
	return false
}

// marksIn finds the marks of an earlier redaction.
func marksIn(text string) (marks []span) {
	for at := 0; ; {
		i := strings.Index(text[at:], markOpen)
		if i < 0 {
			return marks
		}
		end := strings.Index(text[at+i:], markClose)
		if end < 0 {
			return append(marks, span{at + i, len(text), ""})
		}
		marks = append(marks, span{at + i, at + i + end + len(markClose), ""})
		at += i + end + len(markClose)
	}
}

// reference reports whether a value only refers to a secret: $TOKEN, ${TOKEN}, $(cat f), %s,
// <token>, ***.
func reference(value string) bool {
	if value != "" && value[0] < utf8.RuneSelf && strings.IndexByte("\"'$%<{*x.", value[0]) < 0 {
		return false // none of what follows begins so
	}
	value = strings.Trim(value, `"'`)
	return value == "" || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") || strings.HasPrefix(value, "<") ||
		strings.HasPrefix(value, "{{") || strings.HasPrefix(value, markOpen) || len(value) >= 3 && strings.Trim(value, "*x.…") == ""
}
