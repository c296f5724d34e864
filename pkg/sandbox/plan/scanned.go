package plan

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
)

// scan lists a directory tree completely. The plan protects what it finds, and the search
// after the run starts from it.
func (b *builder) scan(root string) (*treescan.Tree, error) {
	return b.files.files.Scan(root, quarantine.ScanOptions(protectedNames, filepath.Join(root, EthosDir), ScanMemory(b.getenv, root)))
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
	return s.trees
}

// Scan is [treescan.Scan].
func (HostFiles) Scan(root string, o treescan.Options) (*treescan.Tree, error) {
	return treescan.Scan(context.Background(), root, o)
}
