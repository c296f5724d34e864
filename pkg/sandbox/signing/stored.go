package signing

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"syscall"
)

// Bounds of what is read of a repository.
const (
	maxPacks      = 2000
	maxAlternates = 8
	maxPointer    = 16 << 10
)

// Stored reports whether a repository has objects. root is the root of the
// boundary, as the command sees it, and repository the path of a git directory
// there: no link leads out of it, so that nothing is told of what the command cannot
// read. Names are hexadecimal. A loose object is known by its file, a packed one by
// the index of its pack; the content is not read.
func Stored(root *os.Root, repository string, names []string) error {
	if !path.IsAbs(repository) || path.Clean(repository) != repository {
		return fmt.Errorf("the repository %.200q is no absolute path", repository)
	}
	dirs := []string{path.Join(repository, "objects")}
	for i := 0; i < len(dirs) && i < maxAlternates; i++ {
		dirs = append(dirs, alternates(root, dirs[i])...)
	}
	dirs = dirs[:min(len(dirs), maxAlternates)]
	for _, name := range names {
		if !objectName(name) {
			return errObject
		}
		found := false
		for _, dir := range dirs {
			found = found || loose(root, dir, name) || packed(root, dir, name)
		}
		if !found {
			return fmt.Errorf("the repository %.200q does not have the object %s that it is made of", repository, name)
		}
	}
	return nil
}

// open opens a regular file; nothing else is waited for.
func open(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(strings.TrimPrefix(name, "/"), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return f, nil
}

// alternates are the directories that one borrows objects from:
// gitrepository-layout(5).
func alternates(root *os.Root, dir string) (list []string) {
	f, err := open(root, path.Join(dir, "info/alternates"))
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxPointer))
	for lines.Scan() && len(list) < maxAlternates {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if !path.IsAbs(line) {
			line = path.Join(dir, line)
		}
		list = append(list, path.Clean(line))
	}
	return list
}

// loose reports a file of the object, which begins as one of git's does.
func loose(root *os.Root, dir, name string) bool {
	f, err := open(root, path.Join(dir, name[:2], name[2:]))
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := zlib.NewReader(io.LimitReader(f, 4<<10))
	if err != nil {
		return false
	}
	head := make([]byte, 7)
	n, _ := io.ReadFull(z, head)
	kind, _, ok := strings.Cut(string(head[:n]), " ")
	return ok && (kind == "tree" || kind == "commit" || kind == "tag" || kind == "blob")
}

// packed reports that a pack has the object: gitformat-pack(5), index version 2.
func packed(root *os.Root, dir, name string) bool {
	oid, err := hex.DecodeString(name)
	if err != nil {
		return false
	}
	packs, err := root.Open(strings.TrimPrefix(path.Join(dir, "pack"), "/"))
	if err != nil {
		return false
	}
	defer packs.Close()
	entries, _ := packs.Readdirnames(3 * maxPacks)
	for _, entry := range entries {
		if !strings.HasSuffix(entry, ".idx") {
			continue
		}
		f, err := open(root, path.Join(dir, "pack", entry))
		if err != nil {
			continue
		}
		has := indexed(f, string(oid))
		f.Close()
		if has {
			return true
		}
	}
	return false
}

func indexed(f *os.File, oid string) bool {
	const fanout = 8
	var head [fanout + 4*256]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:fanout]) != "\xfftOc\x00\x00\x00\x02" {
		return false
	}
	count := func(i int) int { return int(binary.BigEndian.Uint32(head[fanout+4*i:])) }
	low, high := 0, count(int(oid[0]))
	if oid[0] > 0 {
		low = count(int(oid[0]) - 1)
	}
	name := make([]byte, len(oid))
	at := func(i int) string {
		if _, err := f.ReadAt(name, int64(len(head))+int64(i)*int64(len(oid))); err != nil {
			return ""
		}
		return string(name)
	}
	if low > high {
		return false
	}
	i := low + sort.Search(high-low, func(i int) bool { return at(low+i) >= oid })
	return i < high && at(i) == oid
}
