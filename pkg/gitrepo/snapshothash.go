package gitrepo

import (
	"bytes"
	"cmp"
	"crypto/sha1" //nolint:gosec // it names git's objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"ethos/pkg/timerslack"
)

// hashAll hashes the scheduled files, on all processors.
func (s *snapper) hashAll() error {
	s.hashed = len(s.queue)
	work := make(chan *snapNode)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() {
			for n := range work {
				timerslack.Restore()
				if errs[i] == nil {
					errs[i] = s.hashFile(n)
				}
			}
		})
	}
	for _, n := range s.queue {
		if s.ctx.Err() != nil {
			break
		}
		work <- n
	}
	close(work)
	wait.Wait()
	return errors.Join(append(errs, s.ctx.Err())...)
}

// maxHoles limits the bytes of holes that are read in all files of a snapshot. A sparse file of any
// length takes one call to make, and time for its whole length to read.
const maxHoles = 16 << 30

// hashFile computes the name of the content of a file or link. It makes sure that the file it opens
// is the one that was listed.
func (s *snapper) hashFile(n *snapNode) error {
	name := filepath.Join(s.root, n.Path)
	if n.Mode == modeLink {
		target, err := os.Readlink(name)
		if err != nil {
			return linkGone(err)
		}
		n.OID = blobName([]byte(target), s.hash)
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ELOOP) {
		return errMoved
	}
	if err != nil {
		return moved(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || st.Ino != n.Ino || uint64(st.Dev) != n.Dev {
		return errMoved
	} else if holes := info.Size() - st.Blocks*512; holes > 0 && s.holes.Add(holes) > maxHoles {
		return fmt.Errorf("read %s: the files have more than %d GiB of holes", name, maxHoles>>30)
	}
	h := newHash(s.hash)
	fmt.Fprintf(h, "blob %d\x00", n.Size)
	size, err := io.Copy(h, io.LimitReader(f, int64(n.Size)+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if uint64(size) != n.Size {
		return errMoved
	}
	n.OID = string(h.Sum(nil))
	return nil
}

// linkGone converts the error for a link that has become something else.
func linkGone(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return errMoved
	}
	return moved(err)
}

func newHash(size int) hash.Hash {
	if size == sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // as above
}

// objectName returns the name, as bytes, of an object.
func objectName(kind string, body []byte, size int) string {
	h := newHash(size)
	fmt.Fprintf(h, "%s %d\x00", kind, len(body))
	h.Write(body)
	return string(h.Sum(nil))
}

// tree computes the name of a directory whose files have names. It is the hash of a tree object, in
// which directories are ordered as their name and "/".
func (s *snapper) tree(n *snapNode) (string, error) {
	key := func(n *snapNode) string {
		if n.Mode == modeTree {
			return n.name + "/"
		}
		return n.name
	}
	for _, child := range n.items {
		if child.Mode != modeTree {
			continue
		}
		oid, err := s.tree(child)
		if err != nil {
			return "", err
		}
		child.OID = oid
		if child.nested != nil {
			if commit, is := commitOf(child.nested, oid); is {
				child.Mode, child.OID = gitlinkMode, commit
			}
		}
	}
	slices.SortFunc(n.items, func(a, b *snapNode) int { return cmp.Compare(key(a), key(b)) })
	var body bytes.Buffer
	for _, child := range n.items {
		fmt.Fprintf(&body, "%o %s\x00%s", child.Mode, child.name, child.OID)
	}
	return objectName("tree", body.Bytes(), s.hash), nil
}

// commitOf returns the commit that a repository is at, if the commit's tree is this one. The
// content of the commit must match its name.
func commitOf(at *place, tree string) (oid string, is bool) {
	r := &Repository{Config: &Config{}}
	r.Record.GitDir, r.Record.CommonDir = at.gitDir, at.commonDir
	oid, err := r.resolveRef("HEAD")
	if err != nil || oid == "" {
		return "", false
	}
	o := openObjects(at.commonDir)
	defer o.close()
	own, err := o.treeOf(oid)
	return oid, err == nil && own == tree
}

// treeOf returns the tree of a commit, whose content must match its name. Replacement objects, and
// objects stored under another name, are not accepted.
func (o *objects) treeOf(oid string) (string, error) {
	kind, body, err := o.read(oid, 0)
	if err != nil {
		return "", err
	}
	head, _, _ := bytes.Cut(body, []byte{'\n'})
	tree, err := hex.DecodeString(strings.TrimPrefix(string(head), "tree ")) // git uses the first line
	if kind != "commit" || objectName(kind, body, o.hash) != oid || err != nil || len(tree) != o.hash {
		return "", fmt.Errorf("read commit %x: %w", oid, errObject)
	}
	return string(tree), nil
}
