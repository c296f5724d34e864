package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"sync/atomic"

	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
	"ethos/pkg/statedir"
)

// scan lists a writable root completely. The plan protects what it finds, and the
// search after the run begins with it.
func (b *builder) scan(root string) (*treescan.Tree, error) {
	return b.files.files.Scan(root, quarantine.ScanOptions(protectedNames, filepath.Join(root, ethosDir), memoryOf(b.getenv, root)))
}

// startScans are the scans that a plan was made with. The search after the first
// run of the plan begins with them; for another run they would be too old.
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

// memoryOf names the file in which the scan of a root is remembered: in the state
// folder, which no command sees. "" where there is no state folder.
func memoryOf(getenv func(string) string, root string) string {
	dir, err := statedir.Dir(getenv)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, "scan", hex.EncodeToString(sum[:16]))
}

// Scan is [treescan.Scan].
func (HostFiles) Scan(root string, o treescan.Options) (*treescan.Tree, error) {
	return treescan.Scan(context.Background(), root, o)
}
