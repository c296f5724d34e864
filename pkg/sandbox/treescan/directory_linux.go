package treescan

import (
	"bytes"
	"io/fs"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// worker checks one directory after the other. It keeps one directory open, and
// at most [MaxPath] / [stride] + [maxKept] on the way to it.
type worker struct {
	*walk
	local []job
	path  []byte // of the current directory
	job   job    // the current directory
	at    *Dir   // the same, as soon as it is needed
	spare []byte // for a path
	base  int    // length of the root's path
	way   []step // open directories along the path, the deepest last
	buf   []byte
	stat  unix.Stat_t
	how   unix.OpenHow
	kinds map[uint64]bool // by device: whether its timestamps are reliable
	names []string        // of subdirectories

	places     []Place
	unreadable []Unreadable
	changed    []directory // nodes of records that are out of date

	dirs, listed, fresh int
}

// bufSize is the buffer size for one getdents64(2).
const bufSize = 64 << 10

func newWorker(w *walk) *worker {
	return &worker{walk: w, base: len(strings.TrimSuffix(w.root, "/"))}
}

// unchanged reports whether a directory still matches its record.
func (w *worker) unchanged(d directory) bool {
	i := int(d.known())
	if i < 0 {
		return false
	}
	want := w.old.stampOf(i)
	if want == (stamp{}) {
		return false
	}
	dir, rest, err := w.reach()
	if err != nil {
		return false
	}
	err = lstatAt(dir, rest, &w.stat)
	return err == nil && stampOf(&w.stat) == want && w.stat.Mode&unix.S_IFMT == unix.S_IFDIR
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		dev: st.Dev, ino: st.Ino,
		ctime: timestamp{int64(st.Ctim.Sec), uint32(st.Ctim.Nsec)}, mtime: timestamp{int64(st.Mtim.Sec), uint32(st.Mtim.Nsec)},
	}
}

func (w *worker) list(j job) {
	n := w.node(j.directory)
	fd, err := w.open()
	if gone(err) && j.parent != nil {
		n.state = vanished
		return
	}
	w.dirs++
	w.listed++
	n.state, n.own = listed, &listing{err: err}
	if err == nil {
		defer unix.Close(fd)
		// The order matters: a change after the clock was read gets a time that
		// is not earlier than that reading.
		now := w.coarse()
		if err = unix.Fstat(fd, &w.stat); err == nil {
			s := stampOf(&w.stat)
			err = w.read(fd, n)
			if err == nil && w.settled(fd, s, now) {
				n.own.stamp = s
				w.fresh++
			}
		}
		n.own.err = err
	}
	if len(n.own.entries) > 0 {
		w.places = append(w.places, Place{w.here(), n.own.entries})
	}
	if n.own.err != nil {
		w.unreadable = append(w.unreadable, Unreadable{w.here(), n.own.err})
	}
	for i := range n.kids {
		w.queue(directory{node: &n.kids[i]})
	}
}

// settled reports whether any later change of the directory will be visible in
// its change time.
func (w *worker) settled(fd int, s stamp, now timestamp) bool {
	if !s.ctime.before(now) || s.ctime.nsec%grain == 0 {
		return false
	}
	known, ok := w.kinds[s.dev]
	if !ok {
		if w.kinds == nil {
			w.kinds = map[uint64]bool{}
		}
		known = remembers(fd)
		w.kinds[s.dev] = known
	}
	return known
}

// read lists an open directory: its entries of interest, and the nodes of its
// subdirectories.
func (w *worker) read(fd int, n *node) error {
	w.names = w.names[:0]
	if w.buf == nil {
		w.buf = make([]byte, bufSize)
	}
	take := func(name string, typ fs.FileMode) {
		if typ == fs.ModeDir {
			w.names = append(w.names, strings.Clone(name))
		}
		if w.Interest(name, typ) {
			n.own.entries = append(n.own.entries, Entry{strings.Clone(name), typ})
		}
	}
	var size int
	var err error
	for {
		if size, err = getdents(fd, w.buf); err != nil || size == 0 {
			break
		}
		if err = block(fd, w.buf[:size], take); err != nil {
			break
		}
	}
	n.hang(w.names, w.old)
	n.own.sort()
	return err
}

// The layout of struct linux_dirent64: getdents(2).
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// block iterates over the entries that one getdents64(2) returned. name points
// into a buffer that is reused.
func block(dir int, block []byte, each func(name string, typ fs.FileMode)) error {
	for len(block) > 0 {
		size := int(*(*uint16)(unsafe.Pointer(&block[direntLength])))
		raw := block[direntName:size]
		raw = raw[:bytes.IndexByte(raw, 0)]
		kind := block[direntType]
		block = block[size:]
		name := unsafe.String(unsafe.SliceData(raw), len(raw))
		if name == "." || name == ".." {
			continue
		}
		typ, known := typeOf(kind)
		if !known {
			var err error
			if typ, err = lstat(dir, name); gone(err) {
				continue
			} else if err != nil {
				return err
			}
		}
		each(name, typ)
	}
	return nil
}

// ReadDir lists an open directory from its current position, in no particular
// order. On an error it returns the entries read before it.
func ReadDir(fd int) (list []Entry, err error) {
	buf := make([]byte, readDirSize)
	for {
		size, err := getdents(fd, buf)
		if err != nil || size == 0 {
			return list, err
		}
		if err := block(fd, buf[:size], func(name string, typ fs.FileMode) {
			list = append(list, Entry{strings.Clone(name), typ})
		}); err != nil {
			return list, err
		}
	}
}

// readDirSize suffices for most of git's directories.
const readDirSize = 4 << 10
