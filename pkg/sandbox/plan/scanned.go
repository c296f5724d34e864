package plan

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"

	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
)

// scan lists a directory tree completely. The plan protects what it finds, and the search
// after the run starts from it.
func (b *builder) scan(root string) (*treescan.Tree, error) {
	if b.ahead == nil || b.ahead.root != root {
		return b.scanning(root).result()
	}
	return b.ahead.result()
}

// scanAhead begins the scan of the work space, if that is to be writable: it takes longest,
// and is needed when all other rules are known.
func (b *builder) scanAhead() {
	if slices.Contains(b.spec.Base.WritePaths, ".") {
		b.ahead = b.scanning(b.spec.Workspace)
	}
}

func (b *builder) scanning(root string) *scanning {
	s := &scanning{root: root, ended: make(chan struct{})}
	files, options := b.files.files, quarantine.ScanOptions(protectedNames.Get(), filepath.Join(root, EthosDir), ScanMemory(b.getenv, root))
	go func() {
		defer close(s.ended)
		s.tree, s.err = files.Scan(root, options)
	}()
	return s
}

// scanning is a scan that is in progress.
type scanning struct {
	root  string
	ended chan struct{}
	tree  *treescan.Tree
	err   error
}

func (s *scanning) result() (*treescan.Tree, error) {
	<-s.ended
	return s.tree, s.err
}

// startScans holds the scans from which a plan was made. The search after the first run of
// the plan starts from them; for later runs they are out of date.
type startScans struct {
	trees []*treescan.Tree
	taken atomic.Bool
}

func (s *startScans) take() []*treescan.Tree {
	if s.taken.Swap(true) {
		return nil
	}
	trees := s.trees
	s.trees = nil // they may be large
	return trees
}

// Scan is [treescan.Scan].
func (HostFiles) Scan(root string, o treescan.Options) (*treescan.Tree, error) {
	return treescan.Scan(context.Background(), root, o)
}
