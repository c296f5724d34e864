package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// InIndex reports which files of a work tree are in the index with this content, so that everybody
// who can read the repository has it. Files are named relative to the root of the work tree.
// commonDir is gitDir, except for linked work trees. A missing index holds none.
func InIndex(gitDir, commonDir string, content map[string][]byte) (map[string]bool, error) {
	held, size := map[string]bool{}, hashSize(commonDir)
	base, err := inIndex(filepath.Join(gitDir, "index"), size, content, held)
	if err == nil && base != "" { // a split index: the rest is in another file
		_, err = inIndex(filepath.Join(gitDir, "sharedindex."+base), size, content, held)
	}
	return held, err
}

func inIndex(file string, size int, content map[string][]byte, held map[string]bool) (base string, err error) {
	text, err := readFile(file, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var entries []indexEntry
	r := indexReader{text: text, hash: size, all: &entries, only: content}
	if err := r.entries(); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	for _, e := range entries {
		if e.stage == 0 && e.mode != gitlinkMode && e.oid == blobName(content[e.name], size) {
			held[e.name] = true
		}
	}
	return r.base(), nil
}
