package ceiling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	Older   bool // put an older version in the place of a newer one, or another content in the place of one with the same number
	Replace bool // put the bundle in the place of one with another name, or of files that no bundle brought
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

// Installed is the manifest of the bundle that brought what is in the directory; nil where none did.
func Installed() (*Manifest, error) {
	text, err := owned(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m := &Manifest{}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(Dir, manifestName), err)
	}
	return m, nil
}

// Origin says which bundle brought files of the directory; "" for none.
func Origin(files []File) string {
	m, err := Installed()
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
// directory stay. The second result is false when it is there already.
func Install(b *Bundle, force Force) (before *Manifest, done bool, err error) {
	lock, err := os.OpenFile(lockName, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, false, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, false, fmt.Errorf("another installation is under way: %s: %w", lockName, err)
	}
	before, there, err := b.succeeds(force)
	if err != nil || there {
		return before, false, err
	}
	if err := b.stage(); err != nil {
		return before, false, fmt.Errorf("prepare %s: %w", staged, err)
	}
	if err := exchange(staged, Dir); err != nil {
		return before, false, fmt.Errorf("put %s in the place of %s: %w", staged, Dir, err)
	}
	if err := errors.Join(os.RemoveAll(Previous), os.Rename(staged, Previous), syncDir(filepath.Dir(Dir))); err != nil {
		return before, true, fmt.Errorf("it is installed, but what was there before is not kept: %w", err)
	}
	return before, true, nil
}

// succeeds says whether a bundle may take the place of what is there, and whether it is what is there.
func (b *Bundle) succeeds(force Force) (before *Manifest, there bool, err error) {
	before, err = Installed()
	var files []File
	if err == nil {
		files, err = list(Dir, open)
	}
	switch {
	case err != nil && force.Replace:
		return before, false, nil // what cannot be read may be what is to be mended
	case err != nil:
		return before, false, fmt.Errorf("%w: what is there cannot be read: %w", ErrRefused, err)
	case force.Replace:
	case before == nil && len(files) > 0:
		return before, false, fmt.Errorf("%w: no bundle brought what is in %s", ErrRefused, Dir)
	case before != nil && !maps.Equal(before.Files, hashes(files)):
		return before, false, fmt.Errorf("%w: what is in %s was changed since %v was installed", ErrRefused, Dir, before)
	case before != nil && before.Name != b.Manifest.Name:
		return before, false, fmt.Errorf("%w: it is another bundle than %v, which is installed", ErrRefused, before)
	}
	if before == nil || before.Name != b.Manifest.Name {
		return before, false, nil
	}
	same := maps.Equal(before.Files, b.Manifest.Files)
	switch {
	case b.Manifest.Number == before.Number && same:
		return before, maps.Equal(before.Files, hashes(files)), nil
	case force.Older:
	case b.Manifest.Number < before.Number:
		return before, false, fmt.Errorf("%w: it is older than %v, which is installed", ErrRefused, before)
	case b.Manifest.Number == before.Number:
		return before, false, fmt.Errorf("%w: %v is installed with another content", ErrRefused, before)
	}
	return before, false, nil
}

// stage writes the directory as it will be.
func (b *Bundle) stage() error {
	below := filepath.Join(staged, Policies)
	if err := os.RemoveAll(staged); err != nil {
		return err
	}
	for _, dir := range []string{staged, below} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 0, 0), os.Chmod(dir, 0o755)); err != nil {
			return err
		}
	}
	if err := errors.Join(carry(Dir, staged), carry(filepath.Join(Dir, Policies), below)); err != nil {
		return err
	}
	manifest, err := b.Manifest.text()
	if err != nil {
		return err
	}
	for _, f := range append([]File{{filepath.Join(Dir, manifestName), manifest}}, b.Files...) {
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
