package gitsettings

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ethos/pkg/gitargs"
	"ethos/pkg/lazy"
)

// rule says when values of a key are accepted.
type rule struct {
	good func(sub, value string) bool
	when when
}

// when says which changes to the values of a key are allowed.
type when int

const (
	always   when = iota // added, changed and removed
	once                 // added in a new section, and never changed
	added                // added if there is none
	identity             // like added, if nothing names the user yet
	upstream             // added, for a remote that the user pushes to only
)

// inert is the check for a key that needs only that of [gitargs.Inert].
func inert(string, string) bool { return true }

// rules lists what git itself writes when asked for a remote, an upstream, a submodule or a sparse
// checkout, and settings for the behaviour of its output and its everyday commands. Values must
// pass these checks and [gitargs.Inert]. A "*" stands for a subsection; a "*" at the end stands for
// every variable of a section without subsection.
//
// Some inert settings are left out because they decide for the user: what a plain push sends and
// where (push.*, remote.pushDefault, url.*.insteadOf), what the user types (alias.*), whether
// commits are signed and objects checked, what history is removed (gc.*), who may push here
// (receive.*), and what git status leaves out.
var rules = lazy.Value[map[string]rule]{Make: func() map[string]rule {
	return map[string]rule{
		"remote.*.url": {remote, once}, "remote.*.pushurl": {remote, once}, "remote.*.fetch": {fetches, once},
		"remote.*.tagopt": {remote, once}, "remote.*.prune": {remote, once}, "remote.*.skipdefaultupdate": {remote, once}, "remote.*.skipfetchall": {remote, once},
		"remote.*.gh-resolved": {remote, once},

		"branch.*.remote": {remoteName, upstream}, "branch.*.pushremote": {remoteName, upstream}, "branch.*.merge": {reference, upstream}, "branch.*.rebase": {inert, always},
		"branch.*.description": {inert, always}, "branch.*.vscode-merge-base": {inert, always}, "branch.*.gh-merge-base": {inert, always}, "branch.*.github-pr-owner-number": {inert, always},
		"branch.autosetupmerge": {inert, always}, "branch.autosetuprebase": {inert, always}, "branch.sort": {inert, always},

		"submodule.*.url": {module, once}, "submodule.*.active": {module, always}, "submodule.*.branch": {module, always},
		"submodule.*.update": {module, once}, "submodule.active": {inert, always},

		"core.sparsecheckout": {inert, always}, "core.sparsecheckoutcone": {inert, always}, "index.sparse": {inert, always}, "extensions.worktreeconfig": {yes, added},

		"core.abbrev": {inert, always}, "core.autocrlf": {inert, always}, "core.commentchar": {inert, always}, "core.eol": {inert, always},
		"core.quotepath": {inert, always}, "core.safecrlf": {inert, always}, "core.untrackedcache": {inert, always}, "core.whitespace": {inert, always},
		"advice.*": {inert, always}, "color.*": {inert, always}, "column.*": {inert, always},
		"checkout.defaultremote": {remoteName, always}, "checkout.guess": {inert, always},
		"commit.cleanup": {inert, always}, "commit.status": {inert, always}, "commit.verbose": {inert, always},
		"diff.algorithm": {inert, always}, "diff.colormoved": {inert, always}, "diff.context": {inert, always}, "diff.indentheuristic": {inert, always},
		"diff.mnemonicprefix": {inert, always}, "diff.noprefix": {inert, always}, "diff.renamelimit": {inert, always}, "diff.renames": {inert, always},
		"fetch.parallel": {inert, always}, "fetch.prune": {inert, always}, "grep.linenumber": {inert, always}, "init.defaultbranch": {inert, always},
		"log.abbrevcommit": {inert, always}, "log.date": {inert, always}, "log.decorate": {inert, always}, "log.follow": {inert, always},
		"merge.autostash": {inert, always}, "merge.conflictstyle": {inert, always}, "merge.ff": {inert, always}, "merge.log": {inert, always}, "merge.renamelimit": {inert, always},
		"merge.renames": {inert, always}, "merge.stat": {inert, always},
		"pull.ff": {inert, always}, "pull.rebase": {inert, always},
		"rebase.autosquash": {inert, always}, "rebase.autostash": {inert, always}, "rebase.stat": {inert, always}, "rebase.updaterefs": {inert, always},
		"rerere.autoupdate": {inert, always}, "rerere.enabled": {inert, always},
		"status.aheadbehind": {inert, always}, "status.branch": {inert, always}, "status.short": {inert, always}, "status.showstash": {inert, always},
		"tag.sort": {inert, always},

		"user.name": {inert, identity}, "user.email": {inert, identity},
	}
}}

func splitKey(key string) (section, sub, variable string, hasSub bool) {
	section, rest, _ := strings.Cut(key, ".")
	at := strings.LastIndexByte(rest, '.')
	if at < 0 {
		return section, "", rest, false
	}
	return section, rest[:at], rest[at+1:], true
}

func ruleOf(key string) (rule, bool) {
	section, _, variable, hasSub := splitKey(key)
	if hasSub {
		r, ok := rules.Get()[section+".*."+variable]
		return r, ok
	}
	r, ok := rules.Get()[key]
	if !ok {
		r, ok = rules.Get()[section+".*"]
	}
	return r, ok
}

// The reasons for which a setting is refused.
const (
	whyRuns     = "git would run what it names"
	whyDecides  = "a command must not decide this setting for you"
	whyValue    = "only harmless values of this setting are copied"
	whyYours    = "it changes what you had set"
	whyIdentity = "it would change your author name"
	whyUpstream = "your next push would go to a remote that none of your branches has"
)

// judge says why a key may not change from old values to new ones, or returns "" if it may. fresh
// says that the section is new, or the command's own. first holds the settings from before any
// command.
func judge(key string, old, made []string, fresh bool, first map[string][]string, about About) string {
	r, ok := ruleOf(key)
	if !ok || about.Worktree && strings.HasPrefix(key, "remote.") {
		for _, value := range made {
			if gitargs.Executes(key, value) {
				return whyRuns
			}
		}
		return whyDecides
	}
	_, sub, variable, _ := splitKey(key)
	for _, value := range made {
		switch {
		case !plainText(key) || !plainText(value) || !gitargs.Inert(key, value) || !r.good(sub, value):
			return whyValue
		}
	}
	switch {
	case r.when == upstream && len(first[key]) > 0 && len(made) > 0 && !slices.Equal(first[key], made):
		return whyYours
	case r.when == upstream && variable != "merge" && slices.ContainsFunc(made, func(name string) bool { return !pushed(name, first) }):
		return whyUpstream
	case r.when == always, r.when == upstream, fresh:
		return ""
	case r.when == once, len(old) > 0:
		return whyYours
	case r.when == identity && about.Identified:
		return whyIdentity
	}
	return ""
}

// pushed reports whether the user already pushes to a remote, or would: a command of an earlier run
// may have added any other remote.
func pushed(name string, first map[string][]string) bool {
	if name == "." || name == "origin" && has(first, "remote.origin.") {
		return true
	}
	for key, values := range first {
		if section, _, variable, hasSub := splitKey(key); section == "branch" && hasSub && variable == "remote" && slices.Contains(values, name) {
			return has(first, "remote."+name+".")
		}
	}
	return false
}

// plainText reports whether a text can be shown unchanged and written on one line.
func plainText(text string) bool {
	return len(text) <= maxValue && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// maxValue limits the length of a value in bytes.
const maxValue = 4 << 10

// remoteName accepts the name of a remote, or "." for the repository itself, but not an address.
// Git accepts both where it expects a remote, and a remote name that looks like an address or a
// path takes precedence over it.
func remoteName(_, value string) bool { return value == "." || isRemoteName(value) }

func isRemoteName(name string) bool {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	return name != "" && strings.IndexByte(first, name[0]) >= 0 && strings.Trim(name, first+".-") == "" && !strings.Contains(name, "..")
}

func remote(sub, value string) bool { return isRemoteName(sub) && !strings.ContainsAny(value, " \\") }

// fetches reports whether a refspec only updates git's copies of the remote's refs.
func fetches(sub, value string) bool {
	from, to, _ := strings.Cut(strings.TrimPrefix(value, "+"), ":")
	return isRemoteName(sub) && reference(sub, from) && strings.HasPrefix(to, "refs/remotes/"+sub+"/") && !strings.Contains(to, "..")
}

func reference(_, value string) bool {
	return strings.HasPrefix(value, "refs/") && !strings.Contains(value, "..") && !strings.ContainsAny(value, " :\\")
}

// module reports whether the name of a submodule is not a path that leads out: CVE-2018-11235.
func module(sub, value string) bool {
	for part := range strings.SplitSeq(sub, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\:") {
			return false
		}
	}
	return !strings.HasPrefix(sub, "-") && !strings.ContainsAny(value, " \\")
}

func yes(_, value string) bool { return value == "true" }
