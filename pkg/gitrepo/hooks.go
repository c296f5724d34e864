package gitrepo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Hook is a program that git runs by itself: githooks(5).
type Hook struct {
	Name   string
	SHA256 string // of its text, in hex; if it is a link, of the link too
}

// maxHook limits how much of a hook is read.
const maxHook = 8 << 20

// maxHooks limits the files in a directory of hooks.
const maxHooks = 1000

// Hooks lists the hooks that git would run, from the repository's hooks directory or the one that
// core.hooksPath names. Git does not run samples, nor files that are not executable. A directory
// elsewhere that the user's own configuration names belongs to the user and is not examined.
func (r *Repository) Hooks() ([]Hook, error) {
	dir := r.HooksDir()
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || isNotDir(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(entries) > maxHooks {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: ErrTooLarge}
	}
	var list []Hook
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), ".sample") || !runnable(path) {
			continue
		}
		sum, err := hookSum(path, e)
		if err != nil {
			return nil, err
		}
		list = append(list, Hook{e.Name(), sum})
	}
	return list, nil
}

// HooksDir returns the directory in which git looks for hooks. core.hooksPath is relative to the
// top of the work tree, where hooks run; githooks(5). The result is "" if there is none, or if it
// is a directory of the user's.
func (r *Repository) HooksDir() string {
	if r.Record.CommonDir == "" {
		return ""
	}
	var set *Entry
	for i, e := range r.Config.Entries {
		if e.Key == "core.hookspath" {
			set = &r.Config.Entries[i]
		}
	}
	if set == nil {
		return filepath.Join(r.Record.CommonDir, "hooks")
	}
	dir, known := (&loader{home: r.home}).expand(set.Value)
	if !known {
		return ""
	}
	dir = absolute(cmp.Or(r.Record.Root, r.Record.GitDir), dir)
	own := set.Scope == "local" || set.Scope == "worktree"
	if !own && (r.Record.Root == "" || !strings.HasPrefix(dir, r.Record.Root+"/")) {
		return ""
	}
	return dir
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func hookSum(path string, e fs.DirEntry) (string, error) {
	text, err := readFile(path, maxHook)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if e.Type() == fs.ModeSymlink {
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		h.Write([]byte(target + "\x00"))
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)), nil
}
