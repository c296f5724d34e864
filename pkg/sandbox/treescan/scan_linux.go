package treescan

import (
	"bytes"
	"context"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/timerslack"
)

// walk is one scan: workers that take over directories from each other.
type walk struct {
	Options
	ctx  context.Context
	root string
	fd   int // of the root
	old  *memory
	top  int // length of the path of the whole tree's root, with the "/" after it

	mu     sync.Mutex
	wake   sync.Cond
	shared []job
	idle   int
	count  int          // number of workers
	hungry atomic.Int32 // number of idle workers, for readers without the lock
}

// job is a directory for a worker to check.
type job struct {
	directory
	parent  *Dir  // nil for the root
	above   int32 // length of the parent's path
	foreign bool  // the job comes from another worker
}

// perWorker is the number of directories in a memory that justify one more
// thread. Checking them takes half a millisecond, several times as long as
// starting a thread.
const perWorker = 256

// workers returns the number of directories to check in parallel.
func workers(o Options, old *memory) int {
	most := max(2, min(8, runtime.GOMAXPROCS(0)))
	switch n := old.len(); {
	case o.workers > 0:
		return o.workers
	case n > 0:
		return min(most, 1+n/perWorker)
	}
	return most
}

func scan(ctx context.Context, root string, o Options, old *memory, now moment) (*Tree, error) {
	w := &walk{Options: o, ctx: ctx, root: root, old: old, count: workers(o, old)}
	w.wake.L = &w.mu
	if w.coarse == nil {
		w.coarse = coarseClock
	}
	t := &Tree{Root: root, options: o, old: old, at: now, changed: map[int32]*node{}}
	if w.Dir == nil {
		w.Dir = NewDir(root)
	}
	w.top = len(strings.TrimSuffix(w.Dir.upTo(0).name, "/")) + len("/")
	var first job
	if old.len() == 0 {
		t.top = &node{was: -1}
		first.node = t.top
	}
	fd, err := openRoot(root)
	if unreadable(err) {
		t.Dirs, t.Unreadable = 1, []Unreadable{{w.Dir, err}}
		t.top = &node{was: -1}
		return t, ctx.Err()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer unix.Close(fd)
	w.fd, w.shared = fd, []job{first}
	all := make([]*worker, w.count)
	var done sync.WaitGroup
	for i := range all {
		all[i] = newWorker(w)
		if i > 0 {
			done.Go(all[i].run)
		}
	}
	all[0].run()
	done.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, one := range all {
		t.add(one)
	}
	t.sort()
	return t, nil
}

func (t *Tree) add(w *worker) {
	t.Dirs += w.dirs
	t.Listed += w.listed
	t.fresh += w.fresh
	t.Places = append(t.Places, w.places...)
	t.Unreadable = append(t.Unreadable, w.unreadable...)
	for _, c := range w.changed {
		t.changed[c.record] = c.node
	}
}

// take waits for directories from another worker, and adds a share of them to a
// list. It adds none if nothing is left.
func (w *walk) take(to []job) []job {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle++
	w.hungry.Store(int32(w.idle))
	for len(w.shared) == 0 {
		if w.idle == w.count {
			w.wake.Broadcast()
			return to
		}
		w.wake.Wait()
	}
	w.idle--
	w.hungry.Store(int32(w.idle))
	rest := len(w.shared) - (len(w.shared)+w.count-1)/w.count
	to = append(to, w.shared[rest:]...)
	w.shared = w.shared[:rest]
	return to
}

// give passes the first half of the remaining directories, those nearest to the
// root, to waiting workers.
func (w *worker) give() {
	half := w.local[:len(w.local)/2]
	for i := range half {
		half[i].foreign = true
	}
	w.mu.Lock()
	w.shared = append(w.shared, half...)
	w.mu.Unlock()
	w.wake.Broadcast()
	w.local = append(w.local[:0], w.local[len(half):]...)
}

// run checks directories until none is left. After the end of the context it
// only counts them.
func (w *worker) run() {
	defer w.leave(0)
	timerslack.Restore()
	for j, ok := w.next(); ok; j, ok = w.next() {
		if w.ctx.Err() != nil {
			continue
		}
		w.visit(j)
		if len(w.local) > 1 && w.hungry.Load() > 0 {
			w.give()
		}
	}
}

// next returns the last directory of the worker's own list. The walk is
// depth-first, so the path of the previous directory begins with that of this
// one's parent, unless it comes from another worker.
func (w *worker) next() (job, bool) {
	if len(w.local) == 0 {
		w.local = w.take(w.local)
		timerslack.Restore()
	}
	last := len(w.local) - 1
	if last < 0 {
		return job{}, false
	}
	j := w.local[last]
	w.local = w.local[:last]
	if j.foreign && j.parent != nil && j.parent != w.job.parent {
		w.spare = j.parent.appendTo(w.spare[:0])
		if !bytes.HasPrefix(w.path, w.spare) {
			w.leave(0)
			w.path = append(w.path[:0], w.spare...)
		}
	}
	return j, true
}

// visit checks one directory and queues its subdirectories.
func (w *worker) visit(j job) {
	w.job, w.at = j, nil
	w.enterPath(j)
	if len(w.path)-w.top > MaxPath {
		w.fail(j, ErrTooLong)
		return
	}
	if j.parent != nil && w.Skip != nil && w.Skip(w.current()) {
		return
	}
	if w.unchanged(j.directory) {
		w.remembered(j)
	} else {
		w.list(j)
	}
}

// enterPath sets the worker's path to a directory's. The path of "/" is empty.
func (w *worker) enterPath(j job) {
	if j.parent == nil {
		w.path = append(w.path[:0], strings.TrimSuffix(w.root, "/")...)
		w.base = len(w.path)
		return
	}
	w.leave(int(j.above))
	w.path = append(append(w.path[:j.above], '/'), w.nameOf(j.directory)...)
}

func (w *worker) here() *Dir {
	switch {
	case w.at != nil:
	case w.job.parent == nil:
		w.at = w.Dir
	default:
		w.at = w.job.parent.Sub(w.nameOf(w.job.directory))
	}
	return w.at
}

// queue adds a subdirectory of the current directory to the list.
func (w *worker) queue(d directory) {
	w.local = append(w.local, job{directory: d, parent: w.here(), above: int32(len(w.path))})
}

func (w *worker) nameOf(d directory) string {
	if d.node != nil {
		return d.node.name
	}
	return w.old.nameOf(int(d.record))
}

// current returns the worker's path, valid until the next directory.
func (w *worker) current() string {
	if len(w.path) == 0 {
		return "/"
	}
	return unsafe.String(&w.path[0], len(w.path))
}

// remembered takes the content of a directory from its record.
func (w *worker) remembered(j job) {
	w.dirs++
	if j.node != nil {
		j.node.state = same
	}
	i := int(j.known())
	first, count := w.old.kidsOf(i)
	w.keep(i)
	for k := range count {
		w.queue(directory{record: int32(first + k)})
	}
	if w.old.hasEntries(i) {
		w.places = append(w.places, Place{w.here(), w.old.entriesOf(i)})
	}
}

// node returns the node of a directory that does not match its record.
func (w *worker) node(d directory) *node {
	if d.node == nil {
		d.node = &node{name: w.old.nameOf(int(d.record)), was: d.record}
		w.changed = append(w.changed, d)
	}
	return d.node
}

// fail records a directory that cannot be listed.
func (w *worker) fail(j job, err error) {
	n := w.node(j.directory)
	n.state, n.own = listed, &listing{err: err}
	w.unreadable = append(w.unreadable, Unreadable{w.here(), err})
	w.dirs++
}
