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

// Names beside the directory, for [Install].
const (
	Previous = Dir + ".previous" // the former content of the directory
	staged   = Dir + ".new"
	lockName = Dir + ".lock"
)

// Force overrides refusals of [Install].
type Force struct {
	Older   bool // install a bundle that is older than an installed one of its name, or has its number and other content
	Replace bool // replace a bundle of another name, or files that no bundle installed or that cannot be read
}

// ErrRefused is wrapped by the errors that a [Force] overrides.
var ErrRefused = errors.New("refused")

// TrustedKeys returns the text of the file with the keys that may sign bundles.
func TrustedKeys() ([]byte, error) {
	for _, above := range []string{"/", filepath.Dir(Dir), Dir} {
		f, err := open(nil, above, syscall.O_DIRECTORY)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	return owned(Keys)
}

// owned reads a file of the directory that belongs to root.
func owned(name string) ([]byte, error) {
	files, err := add(nil, nil, filepath.Join(Dir, name), open)
	if err != nil {
		return nil, err
	}
	return files[0].Text, nil
}

// installed is the manifest of the bundle that installed the content of the directory.
type installed struct {
	Manifest
	// Highest has the greatest installed number of each name, including bundles that were replaced
	// or rolled back.
	Highest map[string]version `json:"highest,omitempty"`
}

// version is one version of a named bundle.
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

// readInstalled returns nil if no bundle installed the present content.
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

// with returns the highest numbers after a bundle is installed.
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

// manifest returns nil if there is none.
func (is *installed) manifest() *Manifest {
	if is == nil {
		return nil
	}
	return &is.Manifest
}

// Origin returns the bundle that installed files of the directory, or "".
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

// Install replaces the content of the directory by a bundle, and keeps the old content as
// [Previous]. The replacement is atomic. Files that belong to no bundle stay. done is false if the
// bundle is already installed. Install first repairs what a killed installation has left.
func Install(b *Bundle, force Force) (before *Manifest, done bool, err error) {
	lock, err := os.OpenFile(lockName, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, false, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, false, fmt.Errorf("another installation is running: %s: %w", lockName, err)
	}
	if err := mend(lock); err != nil {
		return nil, false, fmt.Errorf("repair what a killed installation left in %s: %w", staged, err)
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
		return before, false, fmt.Errorf("exchange %s with %s: %w", staged, Dir, err)
	}
	if err := keep(); err != nil {
		return before, true, fmt.Errorf("it is installed, but the previous content is not kept: %w", err)
	}
	return before, true, nil
}

// keep moves the former content to [Previous].
func keep() error {
	return errors.Join(os.RemoveAll(Previous), os.Rename(staged, Previous), syncDir(filepath.Dir(Dir)))
}

// note writes to the lock file which directory is about to replace the present one, so that [mend]
// can distinguish the two.
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

// mend finishes an installation that was killed: what it has put in place stays, and the former
// content is kept. What it has not put in place is removed.
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

// present reads the content of the directory.
func present() ([]File, error) {
	dir, err := open(nil, Dir, syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return list(dir, open)
}

// succeeds reports whether a bundle may replace the present content, and whether it is already
// installed. The version number is checked even if other content exists that cannot be read.
func (b *Bundle) succeeds(force Force) (is *installed, there bool, err error) {
	is, unknown := readInstalled()
	files, unread := present()
	before := is.manifest()
	changed := before == nil || unread != nil || !maps.Equal(before.Files, hashes(files))
	switch err := errors.Join(unknown, unread); {
	case force.Replace: // content that cannot be read may be what is to be repaired
	case err != nil:
		return is, false, fmt.Errorf("%w: the installed content cannot be read: %w", ErrRefused, err)
	case before == nil && len(files) > 0:
		return is, false, fmt.Errorf("%w: the content of %s does not come from a bundle", ErrRefused, Dir)
	case before != nil && changed:
		return is, false, fmt.Errorf("%w: the content of %s was changed since %v was installed", ErrRefused, Dir, before)
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

// stage writes the new directory.
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

// carry links the files that belong to no bundle, such as trusted_keys.
func carry(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		switch {
		case e.Name() == manifestName || e.Name() == Policies || isYAML(e.Name()):
		case e.IsDir():
			err = errors.Join(err, fmt.Errorf("nothing reads the directory %s: move it away", filepath.Join(from, e.Name())))
		default:
			err = errors.Join(err, os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
		}
	}
	return err
}

// write creates a file that belongs to root and that all can read.
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
