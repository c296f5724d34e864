package treescan

import (
	"context"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
)

// walk is one scan: workers that take directories from each other.
type walk struct {
	Options
	ctx  context.Context
	root string
	fd   int // of root
	old  *memory

	mu      sync.Mutex
	wake    sync.Cond
	shared  []*node
	idle    int
	workers int
	hungry  atomic.Int32 // idle, for those who do not hold the lock
}

// workers is how many directories are looked at at once.
func workers() int { return max(2, min(8, runtime.GOMAXPROCS(0))) }

func scan(ctx context.Context, root string, o Options, old *memory, now moment) (*Tree, error) {
	w := &walk{Options: o, ctx: ctx, root: root, old: old, workers: workers()}
	w.wake.L = &w.mu
	if w.coarse == nil {
		w.coarse = coarseClock
	}
	t := &Tree{Root: root, options: o, old: old, at: now, top: &node{was: -1}}
	if old.len() > 0 {
		t.top.was = 0
	}
	fd, err := openRoot(root)
	if unreadable(err) {
		t.Dirs, t.Unreadable = 1, []Unreadable{{root, err}}
		return t, ctx.Err()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer closeFD(fd)
	w.fd, w.shared = fd, []*node{t.top}
	all := make([]*worker, w.workers)
	var done sync.WaitGroup
	for i := range all {
		all[i] = newWorker(w)
		done.Go(all[i].run)
	}
	done.Wait()
	var found []*node
	for _, one := range all {
		t.Dirs += one.dirs
		t.Listed += one.listed
		t.fresh += one.fresh
		found = append(found, one.found...)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.assemble(found)
	return t, nil
}

// take waits for a directory that another worker gives away; nil when there is
// nothing left.
func (w *walk) take() *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle++
	w.hungry.Store(int32(w.idle))
	for len(w.shared) == 0 {
		if w.idle == w.workers {
			w.wake.Broadcast()
			return nil
		}
		w.wake.Wait()
	}
	w.idle--
	w.hungry.Store(int32(w.idle))
	last := len(w.shared) - 1
	n := w.shared[last]
	w.shared = w.shared[:last]
	return n
}

// give hands directories over to workers that wait.
func (w *walk) give(nodes []*node) {
	w.mu.Lock()
	w.shared = append(w.shared, nodes...)
	w.mu.Unlock()
	w.wake.Broadcast()
}

// run looks at directories until none is left. Those of an ended context are
// only counted off.
func (w *worker) run() {
	defer w.leave(0)
	for n := w.next(); n != nil; n = w.next() {
		if w.ctx.Err() != nil {
			continue
		}
		w.visit(n)
		if len(w.local) > 1 && w.hungry.Load() > 0 {
			half := len(w.local) / 2
			w.give(w.local[:half])
			w.local = append(w.local[:0], w.local[half:]...)
		}
	}
}

func (w *worker) next() *node {
	last := len(w.local) - 1
	if last < 0 {
		return w.take()
	}
	n := w.local[last]
	w.local = w.local[:last]
	return n
}

// visit looks at one directory, and takes down those in it.
func (w *worker) visit(n *node) {
	if int(n.length) > MaxPath {
		w.fail(n, ErrTooLong)
		return
	}
	w.path = n.path(w.root, w.path)
	if n.parent != nil && w.Skip != nil && w.Skip(string(w.path)) {
		return
	}
	if w.unchanged(n) {
		w.remembered(n)
	} else {
		w.list(n)
	}
	if n.state == vanished {
		return
	}
	w.dirs++
	for i := range n.kids {
		w.local = append(w.local, &n.kids[i])
	}
}

// remembered takes what is in a directory from its record.
func (w *worker) remembered(n *node) {
	n.state = same
	i := int(n.was)
	first, count := w.old.kidsOf(i)
	if count > 0 {
		kids := n.below(count)
		for k := range kids {
			kids[k].init(n, w.old.nameOf(first+k), int32(first+k))
		}
	}
	if w.old.hasEntries(i) {
		w.found = append(w.found, n)
	}
}

// fail takes down a directory that cannot be listed.
func (w *worker) fail(n *node, err error) {
	n.state, n.own = listed, &listing{err: err}
	w.found = append(w.found, n)
	w.dirs++
}
