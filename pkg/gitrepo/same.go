package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// InIndex reports which files of a work tree are in the index with this content, so that everybody
// who can read the repository has it. Files are named relative to the root of the work tree.
// commonDir is gitDir, except for linked work trees. A missing index holds none. read returns the
// content of a file; one that it cannot read is not held. Only the files in the index are read.
func InIndex(gitDir, commonDir string, names map[string]bool, read func(name string) ([]byte, error)) (map[string]bool, error) {
	held, size := map[string]bool{}, hashSize(commonDir)
	base, err := inIndex(filepath.Join(gitDir, "index"), size, names, read, held)
	if err == nil && base != "" { // a split index: the rest is in another file
		_, err = inIndex(filepath.Join(gitDir, "sharedindex."+base), size, names, read, held)
	}
	return held, err
}

func inIndex(file string, size int, names map[string]bool, read func(string) ([]byte, error), held map[string]bool) (base string, err error) {
	text, err := readFile(file, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var entries []indexEntry
	r := indexReader{text: text, hash: size, all: &entries, only: names}
	if err := r.entries(); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	for _, e := range entries {
		if e.stage != 0 || e.mode == gitlinkMode {
			continue
		}
		if content, err := read(e.name); err == nil && e.oid == blobName(content, size) {
			held[e.name] = true
		}
	}
	return r.base(), nil
}
