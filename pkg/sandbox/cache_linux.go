package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/nospace"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/statedir"
)

// cacheHolds are the locks on the upper directories in use; closing them gives the directories free.
type cacheHolds []*os.File

// close gives them free, without what the kernel left there: directories of mode 000, which their owner could not even delete.
func (h cacheHolds) close() {
	for _, slot := range h {
		if root, err := rootAt(slot); err == nil {
			removeWork(root, "work")
			root.Close()
		}
	}
	closeAll(h)
}

// removeWork removes the kernel's own directory from the work directory of an overlay that is not mounted.
func removeWork(root *os.Root, work string) error {
	for _, dir := range []string{"/work", "/work/incompat", "/work/incompat/volatile"} {
		root.Chmod(work+dir, 0o700)
	}
	return root.RemoveAll(work + "/work")
}

// concurrentCaches is how many upper directories one cache may have, for runs at the same time: an overlay's upper directory belongs to one mount.
const concurrentCaches = 8

// prepareCaches returns the mounts with upper directories that exist and that no other run has. Where none can be had the overlay gets one in memory.
func prepareCaches(p *Plan) ([]mount.Mount, cacheHolds, []Note) {
	var holds cacheHolds
	var notes []Note
	mounts := slices.Clone(p.Mounts)
	for i := range mounts {
		m := &mounts[i]
		if m.Kind != mount.Overlay || m.Upper == "" {
			continue
		}
		slot, lock, err := takeSlot(p, filepath.Dir(m.Upper))
		if err != nil {
			notes = append(notes, Note{About: m.Target, Reason: strings.TrimSuffix(fmt.Sprintf("what it writes to the cache is not kept: %v; %s", err, nospace.Hint(err, filepath.Join(p.Workspace, ethosDir))), "; ")})
			m.Upper, m.Work = "", ""
			continue
		}
		holds = append(holds, lock)
		m.Upper, m.Work = slot+"/upper", slot+"/work"
	}
	return mounts, holds, notes
}

// takeSlot finds a numbered directory below dir that no other run uses, and locks it. The directory lies in the work space, which may hold anything: no link is followed.
func takeSlot(p *Plan, dir string) (string, *os.File, error) {
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
		lock, err := root.Open(name)
		if err != nil {
			return "", nil, err
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return filepath.Join(dir, strconv.Itoa(n)), lock, readySlot(root, name)
		}
		lock.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("all %d are in use", concurrentCaches)
}

// openOwn makes the directory of ethos, hidden from git, and opens it so that no name in it leads out.
func openOwn(p *Plan, own string) (*os.Root, error) {
	above, err := openRoot(filepath.Dir(own))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	name := filepath.Base(own)
	info, err := above.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := statedir.MakeDir(p.Getenv, above, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return above.OpenRoot(name)
}

// removeUnlike takes away what stands under a name in the directory of ethos and
// is no directory, or for a mode of 0 no file of its own: a link, a FIFO or a
// device, and a second name of a file that lies elsewhere. A clone can bring it,
// or an earlier command leave it. A directory stays, and is an error where a
// file should be.
func removeUnlike(root *os.Root, name string, want fs.FileMode) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode().Type() == want && (info.IsDir() || ok && st.Nlink == 1) {
		return nil
	}
	if info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	return root.Remove(name)
}

// readySlot makes the two directories of an overlay. The mark of a volatile mount is taken away when the machine has not been restarted since; after a restart
// what was written may be incomplete, and is thrown away: Documentation/filesystems/overlayfs.rst, "Volatile mount".
func readySlot(root *os.Root, name string) error {
	if err := errors.Join(removeUnlike(root, name+"/boot", 0), removeUnlike(root, name+"/upper", fs.ModeDir), removeUnlike(root, name+"/work", fs.ModeDir)); err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return err
	}
	mark := name + "/boot"
	if old, err := root.ReadFile(mark); err != nil || string(old) != string(boot) {
		if err := errors.Join(removeTree(root, name+"/upper"), removeTree(root, name+"/work"), root.WriteFile(mark, boot, 0o600)); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/upper", "/work"} {
		if err := root.Mkdir(name+dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return removeWork(root, name+"/work") // a run that was killed left it, and in it the mark of a volatile mount
}

// removeTree removes what an overlay left in its upper or its work directory.
func removeTree(root *os.Root, name string) error {
	return errors.Join(removeWork(root, name), root.RemoveAll(name))
}

// cacheNotes says what became of the overlays: each way that did not work left a note about its target.
func (r *run) cacheNotes() []Note {
	notes := slices.Clone(r.left)
	for _, m := range r.mounts {
		if m.Kind == mount.Overlay {
			if why := r.fallbacks(m.Target); len(why) > 0 {
				notes = append(notes, Note{About: m.Target, Reason: strings.Join(why, "; ")})
			}
		}
	}
	return notes
}

func (r *run) fallbacks(target string) []string {
	var why []string
	for _, n := range r.notes {
		if n.Step.Object == target && n.Step.Stage == "mount" {
			why = append(why, fmt.Sprintf("%s: %v", n.Step.Call, n.Errno))
		}
	}
	return why
}
