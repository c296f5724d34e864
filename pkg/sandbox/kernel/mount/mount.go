// Package mount turns a list of mounts into the kernel calls that build a root of them.
//
// [Steps] takes the mounts, parents before children, and returns the calls; [Check] compares the mount table of a process with the list.
//
// # Contract
//
// The new root is a tmpfs of its own. What comes from the host is opened with openat2(2), no symbolic link followed, and what was opened is what
// is mounted (open_tree(2), move_mount(2)): there is no second look-up between. Every mount is nosuid, and nodev but for single device nodes; every bind is recursive and
// private. The old root is gone when the calls are done (pivot_root(2), umount2(2) with MNT_DETACH), and the tmpfs is read-only but for
// the directories that are listed as writable.
//
// # Limits
//
// Needs Linux 5.12 (mount_setattr). Nothing in it knows of policies or records.
package mount

import (
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what a [Mount] is made of.
type Kind string

const (
	Bind     Kind = "bind"     // Source of the host, with all that is mounted in it
	Private  Kind = "private"  // a new directory on the root's tmpfs
	Proc     Kind = "proc"     // the PID namespace's own proc(5)
	Closed   Kind = "closed"   // what the mount around it has there, as a mount of its own, read-only
	Devpts   Kind = "devpts"   // a pseudo-terminal instance of its own
	Mask     Kind = "mask"     // nothing: mode 000, so that opening it is EACCES
	Symlink  Kind = "symlink"  // to Source
	Overlay  Kind = "overlay"  // Source below, Upper above (with Work beside it): copy-on-write
	MaskOpen Kind = "masktree" // a Mask that deeper mounts lie in: it can be passed, not read
	BareProc Kind = "bareproc" // what there can be of proc(5) where the kernel refuses it
	Text     Kind = "text"     // a file of its own, with Text in it
	Link     Kind = "link"     // a symbolic link to Source, as a mount: over a file of the host
)

// Mount is one entry of the new root.
type Mount struct {
	Kind     Kind   `json:"kind"`
	Target   string `json:"target"` // absolute, clean
	Source   string `json:"source,omitempty"`
	Upper    string `json:"upper,omitempty"`
	Work     string `json:"work,omitempty"`
	Writable bool   `json:"writable"`
	File     bool   `json:"file,omitempty"`   // not a directory
	Device   bool   `json:"device,omitempty"` // a device node, to be usable as one
	NoExec   bool   `json:"noexec,omitempty"`
	Mode     uint32 `json:"mode,omitempty"` // of a Private directory, 0 means 0755; of a MaskOpen, 0 means 0111
	Text     string `json:"text,omitempty"` // what a Text says
	Why      string `json:"why,omitempty"`  // for people
}

// File is a file that stands for one of proc(5) in a BareProc.
type File struct {
	Name string // below the mount's target
	Text []byte
}

// Depth is the number of components of a clean absolute path.
func Depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

// Sort puts parents before children, without changing the order of equals.
func Sort(mounts []Mount) {
	slices.SortStableFunc(mounts, func(a, b Mount) int {
		if d := Depth(a.Target) - Depth(b.Target); d != 0 {
			return d
		}
		return strings.Compare(a.Target, b.Target)
	})
}

// Within reports whether path is dir or lies in it. Both are clean and absolute.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// Covering returns the deepest mount that path lies in, or nil when that is the root itself.
func Covering(mounts []Mount, path string) *Mount {
	var found *Mount
	for i := range mounts {
		m := &mounts[i]
		if m.Kind != Symlink && Within(path, m.Target) && (found == nil || Depth(m.Target) >= Depth(found.Target)) {
			found = m
		}
	}
	return found
}

func parent(path string) string { return filepath.Dir(path) }
