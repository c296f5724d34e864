package control

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/plan"
)

// scratch is the private directory of a command that has no /tmp of its own. It is created
// for the run and removed at its end. The caller's /tmp is not granted.
type scratch struct {
	*Job
	defaults
	held *os.File // the directory, locked during the run
}

// scratchName is the prefix of the directories' names.
const scratchName = "ethos-scratch-"

// Prepare creates the directory and puts its path into the environment.
func (c *scratch) Prepare(context.Context) error {
	if c.Job.Plan.Backend != plan.Landlock {
		return nil
	}
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil {
		removeStale(dir)
		dir, c.held, err = makeScratch(dir)
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("private directory: %w", err), Hint: "set TMPDIR to a directory that you can write"}
	}
	c.Scratch = dir
	p := *c.Job.Plan
	p.Env = nil
	for _, entry := range c.Job.Plan.Env {
		p.Env = append(p.Env, strings.Replace(entry, "="+plan.Scratch, "="+dir, 1))
	}
	c.Job.Plan = &p
	return nil
}

// makeScratch creates and locks a directory. It tries again if another run takes the
// directory for a stale one in between.
func makeScratch(in string) (dir string, held *os.File, err error) {
	for range 100 {
		if dir, err = os.MkdirTemp(in, scratchName); err != nil {
			return "", nil, err
		}
		if held, err = lockDirectory(dir); err != nil {
			continue
		}
		var there, locked unix.Stat_t
		if unix.Fstat(int(held.Fd()), &locked) == nil && unix.Lstat(dir, &there) == nil && there.Ino == locked.Ino && there.Dev == locked.Dev {
			return dir, held, nil
		}
		held.Close()
		err = unix.ESTALE
	}
	return "", nil, err
}

// lockDirectory opens a directory and takes the lock that shows others that it is in use.
// It returns an error if the path is not a directory of this user.
func lockDirectory(path string) (*os.File, error) {
	dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(dir.Fd()), &st); err == nil && int(st.Uid) != os.Geteuid() {
		err = unix.EACCES
	}
	if err == nil {
		err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// removeStale removes the directories of runs whose process was killed.
func removeStale(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, scratchName+"*"))
	for _, name := range names {
		if stale, err := lockDirectory(name); err == nil {
			_ = os.RemoveAll(name) // what cannot be removed is left to a later run
			stale.Close()
		}
	}
}

// Close removes the directory. No process that could write to it is alive.
func (c *scratch) Close() {
	if c.held != nil {
		defer c.held.Close()
	}
	if c.Scratch == "" || os.RemoveAll(c.Scratch) == nil {
		return
	}
	_ = filepath.WalkDir(c.Scratch, func(path string, d fs.DirEntry, err error) error { // restores permissions that the command removed
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // before it is listed
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
	_ = os.RemoveAll(c.Scratch)
}
