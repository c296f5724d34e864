package plan

import (
	"path/filepath"
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

// covers finds the deepest entry that contains a path, whatever their number.
type covers struct {
	entries []Entry
	at      map[string]int
}

func newCovers(entries []Entry) *covers {
	c := &covers{at: make(map[string]int, len(entries))}
	for _, e := range entries {
		c.add(e)
	}
	return c
}

// add adds an entry, which lies above none that has been added.
func (c *covers) add(e Entry) {
	c.at[e.Path] = len(c.entries)
	c.entries = append(c.entries, e)
}

// covering is [Covering].
func (c *covers) covering(path string) Entry {
	for at := path; ; at = filepath.Dir(at) {
		if i, ok := c.at[at]; ok {
			return c.entries[i]
		}
		if at == "/" || at == "." {
			return Entry{Path: "/", Access: Hidden}
		}
	}
}

// Protective reports whether an entry protects a path in a writable tree from being
// changed.
func Protective(entries []Entry, e Entry) bool {
	i := slices.IndexFunc(entries, func(other Entry) bool { return other.Path == e.Path })
	return protects(e, Covering(entries[:i], e.Path))
}

// protects reports whether an entry takes away the right to write that the one above gives.
func protects(e, above Entry) bool {
	return e.Access != ReadWrite && e.Access != Private && above.Access == ReadWrite
}

func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }
