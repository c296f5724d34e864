package netargs

import (
	"strings"

	"ethos/pkg/egress/rule"
)

// notTopLevel are file name extensions that are not top-level domains. Extensions that are both,
// such as sh and py, count as domains.
const notTopLevel = " json jsonl txt html htm xml yaml yml csv tsv log tar tgz gz bz2 xz zst png jpg jpeg gif svg pdf out tmp bin css js ts pem crt key iso deb rpm "

// anyWord finds hosts in the words of an unknown program: URLs, user@host, and everything that
// looks like a domain or an address.
func anyWord(a *call) {
	for _, w := range a.words {
		if w == nil {
			continue
		}
		text := *w
		if option, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(option, "-") {
			text = value
		}
		if strings.Contains(text, "://") {
			a.links(text, a.name)
		} else if !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "@") && !strings.ContainsAny(text, " {}()\"'\\\n") {
			a.authority(text)
		}
	}
}

func (a *call) authority(text string) {
	authority, _, _ := strings.Cut(text, "/")
	at := strings.LastIndexByte(authority, '@')
	authority = authority[at+1:]
	h, err := rule.ParseHost(authority)
	var port uint16
	if err != nil {
		if h, port, err = rule.ParseAuthority(authority, 0); err != nil {
			name, _, _ := strings.Cut(authority, ":")
			if h, err = rule.ParseHost(name); err != nil {
				return
			}
		}
	}
	number := strings.Trim(authority, "0123456789") == ""
	if h.Addr().IsValid() && !number || h.IsLocal() || at >= 0 && !number || isDomain(h.Name()) {
		a.out.add(h, port)
	}
}

// isDomain reports whether a name has a dot and an ending that can be a top-level domain.
func isDomain(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return last != name && len(last) > 1 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && !strings.Contains(notTopLevel, " "+last+" ")
}
