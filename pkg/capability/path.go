package capability

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/protected"
)

// Undeclarable says why a repository's configuration may not declare a path, and gives a remedy.
// The reason is "" if it may. The reason continues a sentence that begins with the path.
func Undeclarable(text string, write bool) (reason, hint string) {
	switch clean := path.Clean(strings.TrimSuffix(text, "?")); {
	case slices.Contains([]string{"/", "~", "/home", "/root", "/etc", "/proc"}, clean):
		return " is too wide", "name a directory further down"
	case holdsKeys(clean):
		return " holds credentials", "it stays hidden; give the command the one value that it needs: ethos-facts --grant env=NAME"
	case strings.ContainsAny(text, "$*[") || strings.ContainsRune(text, 0):
		return ": variables and wildcards are not supported here", "name the directory"
	case write && InGit(clean):
		return " would make .git writable",
			"no declaration can make git's own files writable; ethos-git and the sandbox handle them"
	case write && (clean == ".." || strings.HasPrefix(clean, "../")):
		return " is too wide to be writable", "name a directory of the work space, or a separate one"
	}
	return "", ""
}

// holdsKeys reports whether a path outside of the work space leads through a name under which
// credentials are kept. A repository that was just cloned must not be able to grant access to them.
func holdsKeys(clean string) bool {
	if !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~") && !strings.HasPrefix(clean, "..") {
		return false
	}
	if below, ok := strings.CutPrefix(clean, "~/"); ok && protected.HoldsCredentials(below) {
		return true
	}
	holder := func(element string) bool { return slices.Contains(protected.Undeclarable(), strings.ToLower(element)) }
	return slices.ContainsFunc(strings.Split(clean, "/"), holder)
}

// InGit reports whether a path is one of git's own files.
func InGit(clean string) bool {
	isGit := func(element string) bool { return strings.EqualFold(element, ".git") }
	return slices.ContainsFunc(strings.Split(clean, "/"), isGit)
}
