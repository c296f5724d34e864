package control

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/plan"
)

// CacheBound is the largest total size, in bytes, of what commands add to the caches of a
// work space. A run that has used a cache checks it, at most once a day.
const CacheBound = 10 << 30

// boundEvery is the interval between these checks.
const boundEvery = 24 * time.Hour

// cacheName is the subdirectory of ethos's directory that holds the caches.
const cacheName = "cache"

// Caches lists the caches of a work space to which commands have added something, the least
// recently used first.
func Caches(workspace string) ([]CacheUse, error) {
	var list []CacheUse
	err := eachSlot(workspace, func(use CacheUse, _ *os.Root, _ string) error {
		list = append(list, use)
		return nil
	})
	sortCaches(list)
	return list, err
}

func sortCaches(list []CacheUse) {
	slices.SortFunc(list, func(a, b CacheUse) int {
		return cmp.Or(a.Used.Compare(b.Used), cmp.Compare(a.Path, b.Path))
	})
}

// PruneCaches removes caches that no run uses: those last used before a time, and as many
// others, least recently used first, as leave at most keep bytes. If dry is set, it removes
// nothing. It returns what it removed or would remove.
func PruneCaches(workspace string, before time.Time, keep int64, dry bool) ([]CacheUse, error) {
	list, err := Caches(workspace)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, use := range list {
		total += use.Bytes
	}
	chosen := map[string]bool{}
	var out []CacheUse
	for _, use := range list {
		if !use.InUse && (use.Used.Before(before) || total > keep) {
			chosen[use.Path] = true
			out = append(out, use)
			total -= use.Bytes
		}
	}
	if dry || len(out) == 0 {
		return out, nil
	}
	err = eachSlot(workspace, func(use CacheUse, root *os.Root, name string) error {
		if !chosen[use.Path] || use.InUse {
			return nil
		}
		return errors.Join(removeTree(root, name+"/upper"), removeTree(root, name+"/work"))
	})
	return out, err
}

// eachSlot calls do for every non-empty upper directory of the caches of a work space. It
// holds the directory's lock during the call unless a run does.
func eachSlot(workspace string, do func(use CacheUse, root *os.Root, name string) error) error {
	for _, own := range []string{plan.EthosDir, filepath.Join(".git", "coding-ethos")} {
		dir := filepath.Join(workspace, own, cacheName)
		root, err := openRoot(dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return err
		}
		caches, err := fs.Glob(root.FS(), "*/[0-7]")
		for _, name := range caches {
			err = errors.Join(err, withSlot(root, dir, name, do))
		}
		if err = errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

func withSlot(root *os.Root, dir, name string, do func(use CacheUse, root *os.Root, name string) error) error {
	slot, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // not a cache directory
	}
	defer slot.Close()
	info, err := slot.Stat()
	if err != nil {
		return err
	}
	use := CacheUse{Path: filepath.Join(dir, name), Used: info.ModTime()}
	use.InUse = unix.Flock(int(slot.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
	_ = fs.WalkDir(root.FS(), name+"/upper", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == name+"/upper" {
			return nil
		}
		if info, err := d.Info(); err == nil {
			use.Files++
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				use.Bytes += st.Blocks * 512
			}
		}
		return nil
	})
	if use.Files == 0 {
		return nil
	}
	return do(use, root, name)
}

// bound keeps the total size of the caches below CacheBound.
func (c *caches) bound() {
	if len(c.holds) == 0 {
		return
	}
	p := c.Job.Plan
	root, err := openRoot(filepath.Join(p.Own, cacheName))
	if err != nil {
		return
	}
	defer root.Close()
	const mark = "bounded"
	now := time.Now()
	if info, err := root.Lstat(mark); err == nil && now.Sub(info.ModTime()).Abs() < boundEvery {
		return
	}
	if removeUnlike(root, mark, 0) == nil && root.WriteFile(mark, []byte(strconv.FormatInt(now.Unix(), 10)), 0o600) == nil {
		_, _ = PruneCaches(p.Workspace, time.Time{}, CacheBound, false)
	}
}

// openTree gives the owner permission to empty every directory of a tree; the directories
// of Go's module cache lack it.
func openTree(root *os.Root, name string) {
	_ = fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			root.Chmod(path, 0o700)
		}
		return nil
	})
}
