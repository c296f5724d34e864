package observe

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Use is how a granted tree was used.
type Use int

const (
	Unused Use = iota
	Read
	Written // or connected to
)

// uses maps granted trees, as paths without links, to their use.
type uses map[string]Use

// Grant names the trees whose use is recorded, as paths without links. It must
// be called before any call is passed.
func (o *Observer) Grant(trees []string) {
	o.uses = uses{}
	for _, tree := range trees {
		o.uses[tree] = Unused
	}
}

// Uses returns how each tree of [Observer.Grant] was used.
func (o *Observer) Uses() map[string]Use {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]Use, len(o.uses))
	for tree, use := range o.uses {
		all[tree] = use
	}
	return all
}

// use records the use of the file that a path leads to, or of the directory in
// which it is to be created. It skips the look-up once no tree can have a
// further use. A file in nested trees counts for each of them.
func (o *Observer) use(path string, write bool) {
	as := Read
	if write {
		as = Written
	}
	if !o.news(as) {
		return
	}
	real, ok := o.real(path)
	if !ok && write {
		real, ok = o.real(filepath.Dir(filepath.Clean(path)))
	}
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for tree, use := range o.uses {
		if use < as && (real == tree || tree == "/" || len(real) > len(tree) && real[:len(tree)] == tree && real[len(tree)] == '/') {
			o.uses[tree] = as
		}
	}
}

// news reports whether some tree has not yet been used in this way.
func (o *Observer) news(as Use) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, use := range o.uses {
		if use < as {
			return true
		}
	}
	return false
}

// real returns what a path resolves to inside.
//
// The name is that of the mount table inside, because that is where the file
// was found. One that was removed has " (deleted)" at its end and lies in the
// same tree.
func (o *Observer) real(path string) (string, bool) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(o.root, path, &how)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	name := make([]byte, unix.PathMax)
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), name)
	return string(name[:max(n, 0)]), err == nil && n > 0
}
