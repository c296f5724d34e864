package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/nospace"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/seal"
	"ethos/pkg/statedir"
)

// caches gives the command the host's package caches copy-on-write: an overlay whose upper
// directory belongs to the run. If the overlay cannot be made, the host's cache is still
// not writable; only the service is reduced.
type caches struct {
	*Job
	defaults
	holds []*os.File // locks on the upper directories in use
}

func (c *caches) Name() string { return "caches" }

func (c *caches) Requested() (string, bool) {
	var targets []string
	for _, m := range c.Job.Plan.Mounts {
		if m.Kind == mount.Overlay {
			targets = append(targets, m.Target)
		}
	}
	return "copy-on-write: " + strings.Join(targets, " "), len(targets) > 0
}

// Prepare assigns to each mount an upper directory that exists and that no other run uses.
// If there is none, the overlay gets one in memory.
func (c *caches) Prepare(context.Context) error {
	p := c.Job.Plan
	for i := range c.Mounts {
		m := &c.Mounts[i]
		if m.Kind == mount.Overlay && c.View != nil {
			var err error
			if m.Upper, m.Work, err = c.View.Scratch(i); err != nil {
				return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("cache: %w", err), Hint: viewHint}
			}
			continue
		}
		if m.Kind != mount.Overlay || m.Upper == "" {
			continue
		}
		slot, lock, err := takeSlot(p, filepath.Dir(m.Upper))
		if err != nil {
			c.Left = append(c.Left, plan.Note{About: m.Target, Reason: strings.TrimSuffix(fmt.Sprintf("additions to the cache are not kept: %v; %s", err, nospace.Hint(err, filepath.Join(p.Workspace, plan.EthosDir))), "; ")})
			m.Upper, m.Work = "", ""
			continue
		}
		c.holds = append(c.holds, lock)
		m.Upper, m.Work = slot+"/upper", slot+"/work"
	}
	return nil
}

// Close releases the upper directories. It first removes the kernel's directories of mode
// 000 in them, which even their owner could not empty.
func (c *caches) Close() {
	for _, slot := range c.holds {
		if root, err := rootAt(slot); err == nil {
			removeWork(root, "work")
			root.Close()
		}
		slot.Close()
	}
	c.bound()
}

// Report adds a note for each fallback that was used.
func (c *caches) Report(line record.Control) record.Control {
	if line.State != Enforced {
		return line
	}
	notes := slices.Clone(c.Left)
	for _, m := range c.Mounts {
		if m.Kind == mount.Overlay {
			if why := c.fallbacks(m.Target); len(why) > 0 {
				notes = append(notes, plan.Note{About: m.Target, Reason: strings.Join(why, "; ")})
			}
		}
	}
	for _, n := range notes {
		line.State = Degraded
		line.Reason += n.About + ": " + n.Reason + ". "
	}
	line.Reason = strings.TrimSuffix(line.Reason, " ")
	return line
}

func (c *caches) Hint() string {
	return "it needs an existing package cache, and a work space that can store what is added to it"
}

// removeWork removes the kernel's own directory from the work directory of an overlay that
// is not mounted.
func removeWork(root *os.Root, work string) error {
	for _, dir := range []string{"/work", "/work/incompat", "/work/incompat/volatile"} {
		root.Chmod(work+dir, 0o700)
	}
	return root.RemoveAll(work + "/work")
}

// concurrentCaches is how many upper directories one cache may have, for concurrent runs:
// an overlay's upper directory belongs to one mount.
const concurrentCaches = 8

// takeSlot finds a numbered directory below dir that no other run uses, and locks it. The
// directory lies in the work space, which may contain anything, so no link is followed.
func takeSlot(p *plan.Plan, dir string) (string, *os.File, error) {
	root, err := openOwn(p, p.Own)
	if err != nil {
		return "", nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(p.Own, dir)
	if err != nil {
		return "", nil, err
	}
	for n := range concurrentCaches {
		name := filepath.Join(rel, strconv.Itoa(n))
		if err := root.MkdirAll(name, 0o700); err != nil {
			return "", nil, err
		}
		if p.Owner != nil { // whose caches lie beside root's
			if err := statedir.Give(root, root, cacheName); err != nil {
				return "", nil, err
			}
		}
		lock, err := root.Open(name)
		if err != nil {
			return "", nil, err
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			slot := filepath.Join(dir, strconv.Itoa(n))
			if err = readySlot(p, root, name, slot); err != nil {
				lock.Close()
			}
			return slot, lock, err
		}
		lock.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("all %d are in use", concurrentCaches)
}

// readySlot creates the two directories of an overlay. If the machine has not been
// restarted since the last use, the mark of a volatile mount is removed. After a restart,
// the content may be incomplete and is discarded: Documentation/filesystems/overlayfs.rst,
// "Volatile mount". Content that ethos did not make for this path is discarded as well: a
// clone may have brought it, or a command may have made it in a work space that had no
// directory of ethos.
func readySlot(p *plan.Plan, root *os.Root, name, path string) error {
	if err := errors.Join(removeUnlike(root, name+"/boot", 0), removeUnlike(root, name+"/upper", fs.ModeDir), removeUnlike(root, name+"/work", fs.ModeDir)); err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	sealed, err := seal.Of(p.Getenv, "cache\x00"+path+"\x00"+string(boot))
	if err != nil {
		return err
	}
	mark := name + "/boot"
	if old, err := root.ReadFile(mark); err != nil || string(old) != sealed {
		if err := errors.Join(removeTree(root, name+"/upper"), removeTree(root, name+"/work"), root.WriteFile(mark, []byte(sealed), 0o600)); err != nil {
			return err
		}
	}
	now := time.Now()
	if err := root.Chtimes(name, now, now); err != nil { // see CacheUse
		return err
	}
	for _, dir := range []string{"/upper", "/work"} {
		if err := root.Mkdir(name+dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return removeWork(root, name+"/work") // a killed run left it, with the mark of a volatile mount
}

// removeTree removes what an overlay left in its upper or work directory.
func removeTree(root *os.Root, name string) error {
	openTree(root, name)
	return errors.Join(removeWork(root, name), root.RemoveAll(name))
}
