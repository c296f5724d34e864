package netargs

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// ReadGit reads a git command. Addresses that it would write into the configuration count, because
// a later command uses them by name.
func ReadGit(g *record.Git) (r Reading) {
	a := &call{name: "git", program: &program{port: 22}, out: &r}
	switch g.Subcommand {
	case "remote", "submodule", "subtree", "clone", "fetch", "pull", "push", "ls-remote", "archive", "fetch-pack", "send-pack", "bundle", "lfs", "svn", "imap-send", "request-pull", "p4":
		for _, w := range g.Args {
			a.gitWord(w, g)
		}
		a.gitAddress(g.Remote)
		if g.Subcommand == "submodule" && slices.ContainsFunc(g.Args, func(w *string) bool { return w != nil && *w == "update" }) {
			r.hide("git submodule update") // .gitmodules has the addresses
		}
	}
	for _, c := range g.Config {
		key := strings.ToLower(c.Key)
		switch {
		case strings.HasPrefix(key, "url."):
			a.gitAddress(c.Key[len("url."):max(len("url."), strings.LastIndexByte(c.Key, '.'))])
		case strings.HasSuffix(key, "proxy"):
			a.place(asProxy, c.Value, "git "+c.Key)
		case strings.HasSuffix(key, "url"):
			a.gitAddress(c.Value)
		}
	}
	return r
}

// gitWord handles one word after the subcommand. An unknown word may be an address.
func (a *call) gitWord(w *string, g *record.Git) {
	if w == nil {
		a.out.hide("git " + g.Subcommand)
		return
	}
	text := *w
	if strings.HasPrefix(text, "-") {
		_, text, _ = strings.Cut(text, "=")
	}
	if strings.Contains(text, "://") || isSCP(text, g) {
		a.gitAddress(text)
	}
}

// isSCP reports whether a text is host:path, at a position where it cannot be a refspec.
func isSCP(text string, g *record.Git) bool {
	return strings.Contains(text, "@") && strings.Contains(text, ":") || text == g.Remote
}

// gitAddress adds the host of an address. A name or a path has none.
func (a *call) gitAddress(text string) {
	if helper, rest, ok := strings.Cut(text, "::"); ok && isScheme(helper) {
		text = rest
	}
	if text != "" && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, ".") {
		a.remote(text, "git")
	}
}
