package view

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Place is what a new view is made of.
type Place struct {
	Getenv func(string) string
	Name   string   // "" for a view that goes when it is closed
	Roots  []string // the directories
	Closed []string // paths in them that nothing is applied to
	Home   string   // the person's
	// Hidden reports whether no command sees a directory; nil: none does.
	Hidden func(dir string) bool
}

// View is an open view.
type View struct {
	Dir string // its directory
	meta
	getenv func(string) string
	lock   *os.File
}

// meta is view.json.
type meta struct {
	Name    string             `json:"name,omitempty"`
	Layers  string             `json:"layers"` // the directory of the layers
	Roots   []Root             `json:"roots"`
	Closed  []string           `json:"closed"`
	Hidden  []string           `json:"hidden,omitempty"` // from commands that may mount: see Hide
	Home    string             `json:"home"`
	Since   [2]int64           `json:"since"`  // nothing was changed by the command before
	Steady  int64              `json:"steady"` // the clock of change times less the one that nobody sets, in nanoseconds
	Boot    string             `json:"boot"`
	Created time.Time          `json:"created"`
	Applied map[string]applied `json:"applied,omitempty"` // by path: what was applied of it
}

// Root is one directory that the view is of.
type Root struct {
	Path string `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

// applied is what stands at a path since it was applied.
type applied struct {
	Ino   uint64   `json:"ino"`
	Ctime [2]int64 `json:"ctime"`
}

// Upper and Work are the directories of the overlay over a root.
func (v *View) Upper(root int) string {
	return filepath.Join(v.Layers, strconv.Itoa(root), "upper")
}
func (v *View) Work(root int) string { return filepath.Join(v.Layers, strconv.Itoa(root), "work") }

// RootPaths are the paths of the roots.
func (v *View) RootPaths() (list []string) {
	for _, r := range v.Roots {
		list = append(list, r.Path)
	}
	return list
}
