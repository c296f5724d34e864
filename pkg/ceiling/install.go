package ceiling

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Places beside the directory, for [Install].
const (
	Previous = Dir + ".previous" // what was in the directory before
	staged   = Dir + ".new"
	lockName = Dir + ".lock"
)

// Force lets [Install] do what it refuses.
type Force struct {
	Older   bool // put in place what is older than a bundle of its name that was installed, or has its number and another content
	Replace bool // put the bundle in the place of one with another name, or of files that no bundle brought or that cannot be read
}

// ErrRefused is wrapped by the errors that a [Force] lifts.
var ErrRefused = errors.New("refused")

// TrustedKeys is the text of the file with the keys that may sign bundles.
func TrustedKeys() ([]byte, error) {
	for _, above := range []string{"/", filepath.Dir(Dir), Dir} {
		f, err := open(above, syscall.O_DIRECTORY)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	return owned(Keys)
}

// owned reads a file of the directory that is root's.
func owned(name string) ([]byte, error) {
	files, err := add(nil, filepath.Join(Dir, name), open)
	if err != nil {
		return nil, err
	}
	return files[0].Text, nil
}

// installed is the manifest of the bundle that brought what is in the directory.
type installed struct {
	Manifest
	// Highest is the greatest number of each name that was installed: what was there before another bundle took its place, or before somebody went back.
	Highest map[string]version `json:"highest,omitempty"`
}

// version is a bundle of a name.
type version struct {
	Number int64  `json:"number"`
	Digest string `json:"digest"` // of the names and hashes of its files
}

func (m Manifest) version() version {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		fmt.Fprintf(h, "%s\x00%s\x00", name, m.Files[name])
	}
	return version{m.Number, "sha256:" + hex.EncodeToString(h.Sum(nil))}
}

// readInstalled is nil where no bundle brought what is there.
func readInstalled() (*installed, error) {
	text, err := owned(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	is := &installed{}
	if err == nil {
		err = json.Unmarshal(text, is)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(Dir, manifestName), err)
	}
	is.Highest = is.with(is.Manifest)
	return is, nil
}

// with are the highest numbers once a bundle is installed.
func (is *installed) with(m Manifest) map[string]version {
	highest := map[string]version{}
	if is != nil {
		maps.Copy(highest, is.Highest)
	}
	if m.Number >= highest[m.Name].Number {
		highest[m.Name] = m.version()
	}
	return highest
}

// manifest is nil where there is none.
func (is *installed) manifest() *Manifest {
	if is == nil {
		return nil
	}
	return &is.Manifest
}

// Origin says which bundle brought files of the directory; "" for none.
func Origin(files []File) string {
	is, err := readInstalled()
	m := is.manifest()
	switch {
	case err != nil:
		return "unknown: " + err.Error()
	case m == nil:
		return ""
	case !maps.Equal(m.Files, hashes(files)):
		return m.String() + ", changed since"
	}
	return m.String()
}

// Install puts a bundle in the place of what the directory holds, which is kept as [Previous]. All of it is there, or nothing of it. Other files of the
// directory stay. The second result is false when it is there already. What an installation that was killed has left is put right first.
func Install(b *Bundle, force Force) (before *Manifest, done bool, err error) {
	lock, err := os.OpenFile(lockName, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, false, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, false, fmt.Errorf("another installation is under way: %s: %w", lockName, err)
	}
	if err := mend(lock); err != nil {
		return nil, false, fmt.Errorf("put right what an installation that was killed has left in %s: %w", staged, err)
	}
	is, there, err := b.succeeds(force)
	before = is.manifest()
	if err != nil || there {
		return before, false, err
	}
	err = b.stage(is)
	if err == nil {
		err = note(lock, staged)
	}
	if err != nil {
		return before, false, fmt.Errorf("prepare %s: %w", staged, err)
	}
	if err := exchange(staged, Dir); err != nil {
		return before, false, fmt.Errorf("put %s in the place of %s: %w", staged, Dir, err)
	}
	if err := keep(); err != nil {
		return before, true, fmt.Errorf("it is installed, but what was there before is not kept: %w", err)
	}
	return before, true, nil
}

// keep makes what was there before the previous one.
func keep() error {
	return errors.Join(os.RemoveAll(Previous), os.Rename(staged, Previous), syncDir(filepath.Dir(Dir)))
}

// note writes into the lock's file which directory is about to take the place of the one there: from then on [mend] can tell the two.
func note(lock *os.File, dir string) error {
	name, err := identity(dir)
	if err == nil {
		_, err = lock.WriteAt([]byte(name), 0)
	}
	return errors.Join(err, lock.Sync())
}

func identity(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fs.ErrInvalid
	}
	return fmt.Sprintf("%d-%d\n", st.Dev, st.Ino), nil
}

// mend ends an installation that was killed: what it has put in place stays, and what was there before is kept; what it has not is removed.
func mend(lock *os.File) error {
	noted, err := io.ReadAll(io.LimitReader(lock, 64))
	if err != nil {
		return err
	}
	if _, err = os.Lstat(staged); err == nil {
		if is, gone := identity(Dir); gone == nil && is == string(noted) {
			err = keep()
		} else {
			err = os.RemoveAll(staged)
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	return errors.Join(lock.Truncate(0), lock.Sync())
}

// succeeds says whether a bundle may take the place of what is there, and whether it is what is there. The number counts whatever else is there, and cannot be read.
func (b *Bundle) succeeds(force Force) (is *installed, there bool, err error) {
	is, unknown := readInstalled()
	files, unread := list(Dir, open)
	before := is.manifest()
	changed := before == nil || unread != nil || !maps.Equal(before.Files, hashes(files))
	switch err := errors.Join(unknown, unread); {
	case force.Replace: // what cannot be read may be what is to be mended
	case err != nil:
		return is, false, fmt.Errorf("%w: what is there cannot be read: %w", ErrRefused, err)
	case before == nil && len(files) > 0:
		return is, false, fmt.Errorf("%w: no bundle brought what is in %s", ErrRefused, Dir)
	case before != nil && changed:
		return is, false, fmt.Errorf("%w: what is in %s was changed since %v was installed", ErrRefused, Dir, before)
	case before != nil && before.Name != b.Manifest.Name:
		return is, false, fmt.Errorf("%w: it is another bundle than %v, which is installed", ErrRefused, before)
	}
	if before != nil && before.String() == b.Manifest.String() && maps.Equal(before.Files, b.Manifest.Files) && !changed {
		return is, true, nil
	}
	var highest version
	if is != nil {
		highest = is.Highest[b.Manifest.Name]
	}
	switch {
	case force.Older:
	case unknown != nil:
		return is, false, fmt.Errorf("%w: what was installed cannot be read, so it may be older: %w", ErrRefused, unknown)
	case b.Manifest.Number < highest.Number:
		return is, false, fmt.Errorf("%w: it is older than %s %d, which was installed", ErrRefused, b.Manifest.Name, highest.Number)
	case b.Manifest.Number == highest.Number && b.Manifest.version() != highest:
		return is, false, fmt.Errorf("%w: %v was installed with another content", ErrRefused, b.Manifest)
	}
	return is, false, nil
}

// stage writes the directory as it will be.
func (b *Bundle) stage(before *installed) error {
	below := filepath.Join(staged, Policies)
	for _, dir := range []string{staged, below} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 0, 0), os.Chmod(dir, 0o755)); err != nil {
			return err
		}
	}
	if err := errors.Join(carry(Dir, staged), carry(filepath.Join(Dir, Policies), below)); err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(installed{b.Manifest, before.with(b.Manifest)}, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range append([]File{{filepath.Join(Dir, manifestName), append(manifest, '\n')}}, b.Files...) {
		if err := write(filepath.Join(staged, relative(f.Name)), f.Text); err != nil {
			return err
		}
	}
	return errors.Join(syncDir(below), syncDir(staged))
}

// carry links the files that no bundle brings, such as trusted_keys.
func carry(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		switch {
		case e.Name() == manifestName || e.Name() == Policies || isYAML(e.Name()):
		case e.IsDir():
			err = errors.Join(err, fmt.Errorf("%s is a directory that nothing reads: move it away", filepath.Join(from, e.Name())))
		default:
			err = errors.Join(err, os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
		}
	}
	return err
}

// write makes a file of root's that all can read.
func write(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chown(0, 0), f.Chmod(0o644), f.Sync(), f.Close())
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
