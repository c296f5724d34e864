package quarantine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/protected"
)

// kindEnvironment is the kind of an environment file in [Session.allowed].
const kindEnvironment = "environment file"

// envFile is an environment file of one of the trees.
type envFile struct {
	tree    *tree
	path    string
	changed int64
}

// environment records the environment files. At the end it puts aside those that the command
// has left beyond [MostEnvironment]. Otherwise a command could leave so many that the next
// run cannot hide the person's own among them.
func (s *Session) environment() {
	var known, left []envFile
	astray := map[*tree][]string{}
	for i, scan := range s.scans {
		for _, f := range EnvFiles(scan) {
			file := envFile{tree: s.trees[i], path: f.Path()}
			if s.allowed(kindEnvironment, file.path) {
				known = append(known, file)
			} else if s.writable(file.path) {
				if f.Link && file.leadsAstray() {
					astray[file.tree] = append(astray[file.tree], file.path)
					continue
				}
				left = append(left, file)
			}
		}
	}
	for t, paths := range astray {
		s.sweep(t, paths, "links", "the next run would hide the files that they lead to")
	}
	if len(left) == 0 || len(beyond(known, left)) == 0 {
		return
	}
	known, left = s.secret(known), s.secret(left)
	for i := range left {
		left[i].changed = left[i].tree.stamp(left[i].path)[1]
	}
	// What a person adds while a command makes many is among those that were changed last.
	slices.SortStableFunc(left, func(a, b envFile) int { return cmp.Compare(b.changed, a.changed) })
	for t, paths := range beyond(known, left) {
		s.sweep(t, paths, "environment files", fmt.Sprintf("the next run could not hide so many one by one; it can hide %d, and the newest stay", MostEnvironment))
	}
}

// leadsAstray reports whether a link with the name of an environment file leads to something
// else. A plan hides what such a link leads to: a command could hide any file.
func (f envFile) leadsAstray() bool {
	to, err := f.tree.link(f.path)
	return err == nil && !protected.EnvFile(to) && !protected.SampleEnvFile(to)
}

// beyond returns the paths of the files for which there is no room after the known ones, by
// tree.
func beyond(known, left []envFile) map[*tree][]string {
	room, paths := NewRoom(MostEnvironment), map[*tree][]string{}
	for _, f := range known {
		if !room.Take(f.tree.path, f.path) {
			room.Fill()
		}
	}
	for _, f := range left {
		if !room.Take(f.tree.path, f.path) {
			paths[f.tree] = append(paths[f.tree], f.path)
		}
	}
	return paths
}

// secret leaves out files whose content git has: they are not hidden.
func (s *Session) secret(files []envFile) []envFile {
	if s.scope.Committed == nil {
		return files
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	committed := s.scope.Committed(paths)
	return slices.DeleteFunc(files, func(f envFile) bool { return committed[f.path] })
}

// sweep moves environment files to the store and adds one finding for all of them.
func (s *Session) sweep(t *tree, paths []string, what, why string) {
	if s.learning || s.only != nil && !s.only[identify(kindEnvironment, t.path)] {
		return
	}
	slices.Sort(paths)
	st := s.storeOf(t)
	b := broom{t: t, st: st, from: -1, to: -1}
	defer b.close()
	moved, err := 0, st.err
	for _, path := range paths {
		if fault := b.move(path); fault == nil {
			moved++
		} else if !errors.Is(fault, errGone) {
			err = fault
		}
	}
	if moved == 0 && err == nil {
		return
	}
	f := Finding{Path: t.path, What: fmt.Sprintf("%d %s", moved, what), Aside: st.path, More: moved, Why: why}
	if b.inPlace > 0 {
		f.What += fmt.Sprintf(", %d of them under other names in their directories", b.inPlace)
	}
	if err != nil && moved < len(paths) {
		f.What, f.Err = what+" like "+paths[0], explain(err)
		s.left = append(s.left, identify(kindEnvironment, t.path))
	}
	f.Again = s.only != nil
	s.note(f)
}

// broom moves many files of one tree. It keeps the directory open that it takes files from,
// and the one in the store that it puts them into.
type broom struct {
	t        *tree
	st       *store
	dir      string
	from, to int
	inPlace  int // files that could only be renamed
}

func (b *broom) close() {
	for _, fd := range []*int{&b.from, &b.to} {
		if *fd >= 0 && *fd != b.st.fd {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

// move moves a file to the store, or else to another name in its directory.
func (b *broom) move(path string) (err error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if b.from < 0 || dir != b.dir {
		b.close()
		b.dir = dir
		if b.from, err = b.t.open(dir, unix.O_PATH|unix.O_DIRECTORY); err != nil {
			return err
		}
		if b.st.err == nil {
			b.to, _ = b.st.sub(b.t.rel(dir))
		}
	}
	_, _ = disarm(b.from, name) // an environment file that keeps a permission runs nothing
	as := shorten(name) + suffix
	for b.to >= 0 {
		err := rename(b.t, b.from, name, dir, b.to, as)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		as = shorten(name) + "." + randomName() + suffix
	}
	if err = rename(b.t, b.from, name, dir, b.from, randomName()+shorten(name)); err == nil {
		b.inPlace++
	} else if gone(b.from, name) {
		return errGone
	}
	return err
}

// sub creates a directory of the store, given by the path that its content had, and opens it.
func (st *store) sub(rel string) (fd int, err error) {
	fd = st.fd
	for part := range strings.SplitSeq(rel, "/") {
		if part == "." || part == "" {
			continue
		}
		next, err := enter(fd, shorten(part))
		if fd != st.fd {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}
