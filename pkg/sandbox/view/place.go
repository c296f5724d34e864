package view

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Place describes a new view.
type Place struct {
	Getenv func(string) string
	Name   string   // "" for a view that is removed when it is closed
	Roots  []string // the directories
	Closed []string // paths in them that changes are not applied to
	Home   string   // the user's home directory
	// Hidden reports whether no command can see a directory; nil: true for
	// every directory.
	Hidden func(dir string) bool
}

// View is an open view.
type View struct {
	Dir string // its directory
	meta
	getenv func(string) string
	lock   *os.File
}

// meta is the content of view.json.
type meta struct {
	Name    string             `json:"name,omitempty"`
	Layers  string             `json:"layers"` // directory of the layers
	Roots   []Root             `json:"roots"`
	Closed  []string           `json:"closed"`
	Hidden  []string           `json:"hidden,omitempty"` // from commands that may mount: see Hide
	Home    string             `json:"home"`
	Since   [2]int64           `json:"since"`  // earliest time of a change by the command
	Steady  int64              `json:"steady"` // change-time clock minus the clock that nobody can set, in nanoseconds
	Boot    string             `json:"boot"`
	Created time.Time          `json:"created"`
	Applied map[string]applied `json:"applied,omitempty"` // by path: what was applied there
}

// Root is one directory of the view.
type Root struct {
	Path string `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

// applied is the state of a path after it was applied.
type applied struct {
	Ino   uint64   `json:"ino"`
	Ctime [2]int64 `json:"ctime"`
}

// Upper and Work return the directories of the overlay over a root.
func (v *View) Upper(root int) string {
	return filepath.Join(v.Layers, strconv.Itoa(root), "upper")
}
func (v *View) Work(root int) string { return filepath.Join(v.Layers, strconv.Itoa(root), "work") }

// RootPaths returns the paths of the roots.
func (v *View) RootPaths() (list []string) {
	for _, r := range v.Roots {
		list = append(list, r.Path)
	}
	return list
}
