package plan

import (
	"ethos/pkg/sandbox/quarantine"
	"io/fs"
	"path/filepath"
	"slices"
)

// Bounds of the search for sockets in a tree that can only be read. A note in the plan says
// so if they are exceeded.
const (
	socketLevels = 4
	socketDirs   = 512
)

// hideSocket hides a socket that exists when the run begins. A server of the host may
// listen on it, and neither a network namespace nor a read-only mount prevents a
// connection: connect needs only write permission on the file, unix(7). Declared sockets
// stay visible.
func (b *builder) hideSocket(path string) {
	declared := func(r rule) bool { return r.path == path }
	if !slices.ContainsFunc(b.declared, declared) {
		b.rules = append(b.rules, rule{resolvedPath{path: path, exists: true}, denyRead, "a socket of the host"})
	}
}

// hideSockets hides the sockets of a tree that can only be read.
func (b *builder) hideSockets(root string) {
	level, dirs := []string{root}, 0
	for depth := 0; depth <= socketLevels && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if dirs++; dirs > socketDirs {
				b.note(root, "sockets were searched in %d directories; the command can connect to those beyond", socketDirs)
				return
			}
			next = append(next, b.socketsIn(dir)...)
		}
		level = next
	}
}

// socketsIn hides the sockets of one directory and returns its subdirectories.
func (b *builder) socketsIn(dir string) (below []string) {
	entries, err := b.files.files.Entries(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type() == fs.ModeSocket {
			b.hideSocket(path)
		}
		if e.IsDir() && !slices.Contains(quarantine.PassedBy, e.Name()) {
			below = append(below, path)
		}
	}
	return below
}

// declaredSockets returns the sockets that the command may connect to, without links.
func (b *builder) declaredSockets() (paths []string) {
	for _, r := range b.declared {
		if r.why == unixSocket {
			paths = append(paths, r.path)
		}
	}
	return paths
}
