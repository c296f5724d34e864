package view

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/statedir"
)

const (
	metaName  = "view.json"
	tempStart = ".run-" // begins the name of a view that is removed when it is closed
)

// Scratch creates the directories of an overlay over something that is not a
// root, such as a package cache. They are removed when the view is closed.
func (v *View) Scratch(n int) (upper, work string, err error) {
	dir := filepath.Join(v.Layers, "scratch", strconv.Itoa(n))
	upper, work = filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	return upper, work, errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755))
}

// Create creates a view. It waits for the clock to advance before it returns,
// so that earlier changes have an earlier change time than later ones.
func Create(p Place) (*View, error) {
	base, err := statedir.Make(p.Getenv, Folder)
	if err != nil {
		return nil, err
	}
	prune(base)
	v := &View{getenv: p.Getenv, meta: meta{Name: p.Name, Closed: p.Closed, Home: p.Home, Created: time.Now().UTC()}}
	v.Dir = filepath.Join(base, p.Name)
	if p.Name == "" {
		v.Dir = filepath.Join(base, tempStart+rand.Text())
	}
	for _, root := range p.Roots {
		r, err := identify(root)
		if err != nil {
			return nil, err
		}
		v.Roots = append(v.Roots, r)
	}
	if err := os.Mkdir(v.Dir, 0o700); err != nil {
		return nil, err
	}
	if v.lock, err = statedir.Lock(v.Dir, true); err == nil {
		err = v.make(p)
	}
	if err != nil {
		v.Remove()
		return nil, err
	}
	return v, nil
}

// make creates the layers and records the time.
func (v *View) make(p Place) (err error) {
	if v.Layers, err = layers(v.Dir, p); err != nil {
		return err
	}
	for i := range v.Roots {
		if err := errors.Join(os.MkdirAll(v.Upper(i), 0o755), os.MkdirAll(v.Work(i), 0o755)); err != nil {
			return err
		}
		var st unix.Stat_t // the root of the view takes its mode from the upper layer
		if err := unix.Stat(v.Roots[i].Path, &st); err != nil {
			return &fs.PathError{Op: "stat", Path: v.Roots[i].Path, Err: err}
		}
		if err := unix.Chmod(v.Upper(i), st.Mode&0o7777); err != nil {
			return &fs.PathError{Op: "chmod", Path: v.Upper(i), Err: err}
		}
	}
	if v.Since, err = tick(v.Layers); err != nil {
		return err
	}
	v.Steady, v.Boot = steady(), bootID()
	return v.Save()
}

// Save writes view.json as a whole, with what was applied.
func (v *View) Save() error {
	text, err := json.Marshal(v.meta)
	if err != nil {
		return err
	}
	return statedir.Replace(v.Dir, metaName, text, false)
}

// Open opens a view by its name.
func Open(getenv func(string) string, name string) (*View, error) {
	base, err := statedir.Open(getenv, Folder)
	if err != nil {
		return nil, err
	}
	return OpenAt(getenv, filepath.Join(base, name))
}

// OpenAt opens a view by its directory.
func OpenAt(getenv func(string) string, dir string) (*View, error) {
	held, err := statedir.Lock(dir, true)
	if err != nil {
		return nil, err
	}
	v := &View{Dir: dir, getenv: getenv, lock: held}
	text, err := os.ReadFile(filepath.Join(dir, metaName))
	if err == nil {
		err = json.Unmarshal(text, &v.meta)
	}
	if err != nil {
		held.Close()
		return nil, fmt.Errorf("%s: %w", metaName, err)
	}
	for i := range v.Roots { // left by a run that was killed
		clearWork(v.Work(i))
	}
	return v, nil
}

// Close lets other processes open the view. It removes a view without a name.
func (v *View) Close() error {
	if v.Name == "" {
		return v.Remove()
	}
	err := statedir.RemoveTree(filepath.Join(v.Layers, "scratch"))
	for i := range v.Roots {
		err = errors.Join(err, clearWork(v.Work(i)))
	}
	return errors.Join(err, v.lock.Close())
}

// Remove removes the view and everything in it.
func (v *View) Remove() error {
	if v.lock != nil {
		defer v.lock.Close()
	}
	var err error
	if v.Layers != "" {
		err = statedir.RemoveTree(v.Layers)
	}
	return errors.Join(err, statedir.RemoveTree(v.Dir))
}

// prune removes the views of runs that were killed.
func prune(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempStart) {
			if v, err := OpenAt(nil, filepath.Join(base, e.Name())); err == nil {
				v.Remove()
			} else if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
				if held, err := statedir.Lock(filepath.Join(base, e.Name()), true); err == nil { // killed while creating it
					statedir.RemoveTree(filepath.Join(base, e.Name()))
					held.Close()
				}
			}
		}
	}
}

// clearWork removes what the kernel left in a work directory: directories of
// mode 000, and the mark of a volatile mount. The mark makes the layers count
// as incomplete, which they are if the machine stopped meanwhile.
func clearWork(work string) error { return statedir.RemoveTree(filepath.Join(work, "work")) }

func stampOf(dir int, name string) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			return stamp{}, nil
		}
		return stamp{}, &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	return stamp{
		Dev: uint64(st.Dev), Ino: st.Ino, Mode: st.Mode, Size: st.Size, occupied: st.Blocks * 512, Mtime: [2]int64{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
		Ctime: [2]int64{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}, names: uint64(st.Nlink), there: true, own: int(st.Uid) == os.Geteuid(),
	}, nil
}
