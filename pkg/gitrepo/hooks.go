package gitrepo

import (
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
	SHA256 string // of its text, in hex; of its link as well when it is one
}

// maxHook bounds what is read of a hook.
const maxHook = 8 << 20

// Hooks lists what git would run out of the repository's own directory of hooks: samples, and files that cannot be executed, it does not. Where
// core.hooksPath is set, hooks are in another place, and none here.
func (r *Repository) Hooks() ([]Hook, error) {
	if _, moved := r.Config.Get("core.hookspath"); moved || r.Record.CommonDir == "" {
		return nil, nil
	}
	dir := filepath.Join(r.Record.CommonDir, "hooks")
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
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
