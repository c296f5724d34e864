package plan

import (
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// More lists paths that are declared in addition to a spec. They are absolute.
type More struct{ Read, Write, Sockets []string }

// withMore returns a function that plans the spec with additional paths.
func withMore(spec Spec, files Files, uid int) func(More) (*Plan, error) {
	return func(more More) (*Plan, error) {
		s := spec
		s.ReadPaths = slices.Concat(s.ReadPaths, more.Read)
		s.WritePaths = slices.Concat(s.WritePaths, more.Write)
		s.UnixSockets = slices.Concat(s.UnixSockets, more.Sockets)
		return Build(s, files, uid)
	}
}

// Location is what a path on the host resolves to.
type Location struct {
	Path   string // without symbolic links, as far as it exists
	Exists bool
	Mode   fs.FileMode
	Owner  uint32
	Group  uint32
	Links  []string // the symbolic links that were followed, each as a path without links
}

// Locate follows every link of an absolute path.
func Locate(files Files, path string) (Location, error) {
	p, err := newResolver(files).resolve(filepath.Clean(path))
	if err != nil {
		return Location{}, err
	}
	l := Location{Path: p.path, Exists: p.exists, Mode: p.mode, Owner: p.owner, Links: p.links}
	if info, err := files.Lstat(p.path); err == nil {
		l.Group = groupOf(info)
	}
	if p.exists && p.dir {
		l.Mode |= fs.ModeDir
	}
	return l, nil
}

func groupOf(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Gid
	}
	return 0
}
