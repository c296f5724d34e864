// Package mount turns a list of mounts into the system calls that build a new
// root from them.
//
// Begin with [Steps], which takes the mounts, parents before children, and
// returns the calls. [Check] compares the mount table of a process with the
// list.
//
// # Contract
//
// The new root is its own tmpfs. Host paths are opened with openat2(2), without
// following symbolic links, and what was opened is what is mounted
// (open_tree(2), move_mount(2)); there is no second look-up. Every mount is
// nosuid and, except for single device nodes, nodev. Every bind is recursive
// and private. When the calls are done, the old root is gone (pivot_root(2),
// umount2(2) with MNT_DETACH), and the tmpfs is read-only except for the
// directories that are listed as writable.
//
// # Limits
//
// It needs Linux 5.12 (mount_setattr). It knows nothing about policies or
// records.
package mount

import (
	"slices"
	"strings"
)

// Kind is the type of a [Mount].
type Kind string

const (
	Bind     Kind = "bind"     // Source on the host, with everything mounted in it
	Private  Kind = "private"  // a new directory on the root's tmpfs
	Proc     Kind = "proc"     // the PID namespace's own proc(5)
	Closed   Kind = "closed"   // the content of the surrounding mount, as a separate read-only mount
	Devpts   Kind = "devpts"   // its own pseudo-terminal instance
	Mask     Kind = "mask"     // an empty file or directory of mode 000: opening it yields EACCES
	Symlink  Kind = "symlink"  // a symbolic link to Source
	Overlay  Kind = "overlay"  // Source ("": an empty directory) below, Upper above (with Work beside it): copy-on-write
	MaskOpen Kind = "masktree" // a Mask with deeper mounts in it: it can be traversed, not read
	BareProc Kind = "bareproc" // a substitute for proc(5) if the kernel refuses it
	Text     Kind = "text"     // a separate file that contains Text
	Link     Kind = "link"     // a symbolic link to Source, mounted over a host file
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
	Device   bool   `json:"device,omitempty"` // a device node that can be used as one
	NoExec   bool   `json:"noexec,omitempty"`
	Mode     uint32 `json:"mode,omitempty"` // of a Private directory, 0 means 0755; of a MaskOpen, 0 means 0111
	Text     string `json:"text,omitempty"` // the content of a Text
	Why      string `json:"why,omitempty"`  // for people
}

// File is a file that replaces one of proc(5) in a BareProc.
type File struct {
	Name string // relative to the mount's target
	Text []byte
}

// Depth returns the number of components of a clean absolute path.
func Depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

// Sort puts parents before children. Equal targets keep their order.
func Sort(mounts []Mount) {
	slices.SortStableFunc(mounts, func(a, b Mount) int {
		if d := Depth(a.Target) - Depth(b.Target); d != 0 {
			return d
		}
		return strings.Compare(a.Target, b.Target)
	})
}

// Within reports whether path is dir or lies below it. Both are clean and
// absolute. The slash counts: /workspace is not within /work.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// Covering returns the deepest mount that contains path, or nil if that is the
// root itself. A symbolic link contains nothing: what lies behind it is
// elsewhere.
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
