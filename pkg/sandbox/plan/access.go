package plan

import (
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// Access is what the command may do at a path and below it.
type Access string

const (
	Hidden    Access = "hidden"
	ReadOnly  Access = "read"
	ReadWrite Access = "write"
	Private   Access = "private" // readable and writable, empty at the start, gone at the end
)

// Entry is one line of the resolved path table. Its access applies to Path and everything
// below, up to the next deeper entry.
type Entry struct {
	Path   string `json:"path"`
	Access Access `json:"access"`
	Exists bool   `json:"exists"`
	Dir    bool   `json:"dir"`
	Empty  bool   `json:"empty,omitempty"` // a hidden directory that appears as an empty one
	Why    string `json:"why"`
}

// Covering returns the deepest entry that contains p. A path that no entry contains is
// hidden.
func Covering(entries []Entry, p string) Entry {
	found := Entry{Path: "/", Access: Hidden}
	for _, e := range entries {
		if mount.Within(p, e.Path) {
			found = e // parents come first, so the last match is the deepest
		}
	}
	return found
}

// Protective reports whether an entry protects a path in a writable tree from being
// changed.
func Protective(entries []Entry, e Entry) bool {
	if e.Access == ReadWrite || e.Access == Private {
		return false
	}
	i := slices.IndexFunc(entries, func(other Entry) bool { return other.Path == e.Path })
	return Covering(entries[:i], e.Path).Access == ReadWrite
}

func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }
