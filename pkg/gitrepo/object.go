package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Limits for objects.
const (
	maxObject     = 32 << 20
	maxAlternates = 32
	maxPacks      = 5000
	maxDeltas     = 64 // for one object; git itself makes chains of 50
)

var errObject = errors.New("not a git object")

// objects is a repository's object database, loose and packed: gitrepository-layout(5),
// gitformat-pack(5). Names of objects are raw bytes.
type objects struct {
	dirs  []string // objects/ and its alternates
	hash  int
	packs []*pack // nil until one is needed
}

func openObjects(commonDir string) *objects {
	o := &objects{hash: hashSize(commonDir)}
	o.addDir(filepath.Join(commonDir, "objects"))
	return o
}

// addDir adds a directory and the alternates that it names. It skips lines that do not name a
// directory.
func (o *objects) addDir(dir string) {
	for _, have := range o.dirs {
		if have == dir {
			return
		}
	}
	if len(o.dirs) >= maxAlternates {
		return
	}
	o.dirs = append(o.dirs, dir)
	text, err := readFile(filepath.Join(dir, "info/alternates"), maxPointer)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
			o.addDir(absolute(dir, line))
		}
	}
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.close()
	}
}

// read reads an object that is needed for depth deltas.
func (o *objects) read(oid string, depth int) (kind string, body []byte, err error) {
	name := hex.EncodeToString([]byte(oid))
	if len(oid) != o.hash || depth > maxDeltas {
		return "", nil, fmt.Errorf("read object %s: %w", name, errObject)
	}
	for _, dir := range o.dirs {
		kind, body, err = readLoose(filepath.Join(dir, name[:2], name[2:]))
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, body, err
		}
	}
	if err := o.openPacks(); err != nil {
		return "", nil, err
	}
	for _, p := range o.packs {
		at, found, err := p.find(oid)
		if err != nil {
			return "", nil, err
		}
		if found {
			return p.read(o, at, depth)
		}
	}
	return "", nil, fmt.Errorf("read object %s: %w", name, fs.ErrNotExist)
}

// readLoose reads one loose object: zlib, a header "commit 123\0", the content.
func readLoose(file string) (kind string, body []byte, err error) {
	f, err := openRegular(file)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, err)
	}
	r := bufio.NewReader(z)
	head, err := r.ReadSlice(0)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, errObject)
	}
	kind, digits, _ := strings.Cut(string(head[:len(head)-1]), " ")
	size, err := strconv.Atoi(digits)
	if err != nil || size < 0 || size > maxObject {
		return "", nil, fmt.Errorf("read %s: %w", file, errObject)
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, err)
	}
	return kind, body, nil
}

// openRegular opens a regular file. It does not block if the name is a FIFO or a device.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// commit has the parts of a commit that are needed.
type commit struct {
	tree    string
	parents []string
	date    int64 // of the committer, seconds
}

// commit reads a commit, or the one that a tag points to.
func (o *objects) commit(oid string) (c commit, name string, err error) {
	for range 16 {
		kind, body, err := o.read(oid, 0)
		if err != nil {
			return c, oid, err
		}
		switch kind {
		case "commit":
			return parseCommit(body), oid, nil
		case "tag":
			head, _, _ := bytes.Cut(body, []byte{'\n'})
			target, err := hex.DecodeString(strings.TrimPrefix(string(head), "object "))
			if err != nil {
				return c, oid, errObject
			}
			oid = string(target)
		default:
			return c, oid, fmt.Errorf("read object %x: %w", oid, errObject)
		}
	}
	return c, oid, errObject
}

func parseCommit(body []byte) (c commit) {
	for line := range bytes.Lines(body) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch word {
		case "tree", "parent":
			oid, err := hex.DecodeString(rest)
			if err != nil {
				continue
			}
			if word == "tree" {
				c.tree = string(oid)
			} else {
				c.parents = append(c.parents, string(oid))
			}
		case "committer":
			fields := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
			if len(fields) > 0 {
				c.date, _ = strconv.ParseInt(fields[0], 10, 64)
			}
		case "":
			return c
		}
	}
	return c
}

// treeEntry is one entry of a tree.
type treeEntry struct {
	name string
	mode uint32
	oid  string
}

func (o *objects) tree(oid string) ([]treeEntry, error) {
	kind, body, err := o.read(oid, 0)
	if err != nil {
		return nil, err
	}
	var out []treeEntry
	for len(body) > 0 && kind == "tree" {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || err != nil || len(rest) < o.hash {
			return nil, fmt.Errorf("read tree %x: %w", oid, errObject)
		}
		out = append(out, treeEntry{name, uint32(bits), string(rest[:o.hash])})
		body = rest[o.hash:]
	}
	if kind != "tree" {
		return nil, fmt.Errorf("read tree %x: %w", oid, errObject)
	}
	return out, nil
}
