package signing

import (
	"bufio"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"
)

// The limits of what is read from a repository for one request.
const (
	maxNames      = 64   // distinct
	maxPacks      = 1000 // indexes, of all directories
	maxEntry      = 3 * maxPacks
	maxAlternates = 8
	maxPointer    = 16 << 10
	patienceOfUs  = 5 * time.Second
)

// Stored reports whether a repository has objects. root is the root of the
// boundary as the command sees it, and repository the path of a git directory
// in it. No symbolic link leads out of root, so the answer reveals nothing that
// the command cannot read. Names are hexadecimal, at most 64 distinct ones. A
// loose object is found by its file, a packed one by the index of its pack; the
// content is not read. Stored gives up when ctx ends, and after five seconds.
func Stored(ctx context.Context, root *os.Root, repository string, names []string) error {
	if !path.IsAbs(repository) || path.Clean(repository) != repository {
		return fmt.Errorf("the repository %.200q is not an absolute path", repository)
	}
	if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) > maxNames {
		return fmt.Errorf("it consists of more than %d objects", maxNames)
	}
	if !slices.ContainsFunc(names, objectName) || slices.ContainsFunc(names, func(name string) bool { return !objectName(name) }) {
		return errObject
	}
	ctx, cancel := context.WithTimeout(ctx, patienceOfUs)
	defer cancel()
	dirs := []string{objectsOf(root, repository)}
	for i := 0; i < len(dirs) && len(dirs) < maxAlternates; i++ {
		dirs = append(dirs, alternates(root, dirs[i])...)
	}
	dirs = dirs[:min(len(dirs), maxAlternates)]
	for _, dir := range dirs {
		names = slices.DeleteFunc(names, func(name string) bool { return ctx.Err() == nil && loose(root, dir, name) })
	}
	left := maxPacks
	for i := 0; i < len(dirs) && len(names) > 0; i++ {
		names = packed(ctx, root, dirs[i], names, &left)
	}
	switch {
	case len(names) == 0:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("the repository %.200q was not read to its end: %w", repository, ctx.Err())
	case left == 0:
		return fmt.Errorf("the repository %.200q has more than %d packs, and the object %s in none of those that were read: git gc", repository, maxPacks, names[0])
	}
	return fmt.Errorf("the repository %.200q lacks the object %s that it consists of", repository, names[0])
}

// objectsOf returns the objects directory. An absolute symbolic link cannot
// leave root, because it is resolved from there.
func objectsOf(root *os.Root, repository string) string {
	dir := path.Join(repository, "objects")
	for range maxAlternates {
		target, err := root.Readlink(strings.TrimPrefix(dir, "/"))
		if err != nil || !path.IsAbs(target) {
			break
		}
		dir = path.Clean(target)
	}
	return dir
}

// open opens a regular file, and does not block on any other kind.
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

// alternates returns the directories from which another one borrows objects:
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

// loose reports whether a file of the object exists and begins like one of
// git's.
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

// packed returns the names that no pack of a directory has: gitformat-pack(5),
// index version 2. left is the number of indexes that may still be opened.
func packed(ctx context.Context, root *os.Root, dir string, names []string, left *int) []string {
	dir = path.Join(dir, "pack")
	packs, err := root.OpenFile(strings.TrimPrefix(dir, "/"), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return names
	}
	defer packs.Close()
	entries, _ := packs.Readdirnames(maxEntry)
	for _, entry := range entries {
		if !strings.HasSuffix(entry, ".idx") {
			continue
		}
		if *left == 0 || len(names) == 0 || ctx.Err() != nil {
			return names
		}
		*left--
		f, err := open(root, path.Join(dir, entry))
		if err != nil {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			oid, err := hex.DecodeString(name)
			return err == nil && ctx.Err() == nil && indexed(f, string(oid))
		})
		f.Close()
	}
	return names
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
