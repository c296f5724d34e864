package lab

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Archive is an initial RAM file system: initramfs buffer format, "newc" (Documentation/driver-api/early-userspace/buffer-format.rst).
type Archive struct {
	entries map[string]entry
}

type entry struct {
	mode uint32 // st_mode
	uid  uint32 // also the gid
	data []byte
}

const (
	typeFile = 0o100000
	typeDir  = 0o040000
	typeLink = 0o120000
	typeMask = 0o170000
)

func (a *Archive) add(name string, e entry) {
	if a.entries == nil {
		a.entries = map[string]entry{}
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, have := a.entries[dir]; !have {
			a.entries[dir] = entry{mode: typeDir | 0o755}
		}
	}
	a.entries[name] = e
}

// Dir adds a directory.
func (a *Archive) Dir(name string, mode fs.FileMode) {
	a.add(name, entry{mode: typeDir | uint32(mode.Perm())})
}

// File adds a file.
func (a *Archive) File(name string, mode fs.FileMode, data []byte) {
	a.add(name, entry{mode: typeFile | uint32(mode.Perm()), data: data})
}

// Link adds a symbolic link.
func (a *Archive) Link(name, target string) {
	a.add(name, entry{mode: typeLink | 0o777, data: []byte(target)})
}

// Own makes a user the owner of an added entry.
func (a *Archive) Own(uid uint32, name string) {
	e := a.entries[name]
	e.uid = uid
	a.entries[name] = e
}

// Tree adds a file or everything below a directory of the host under name.
func (a *Archive) Tree(name, host string) error {
	return filepath.WalkDir(host, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(host, file)
		if err != nil {
			return err
		}
		return a.host(path.Join(name, filepath.ToSlash(rel)), file)
	})
}

func (a *Archive) host(name, file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		a.Dir(name, info.Mode())
	case fs.ModeSymlink:
		target, err := os.Readlink(file)
		if err != nil {
			return err
		}
		a.Link(name, target)
	case 0:
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		a.File(name, info.Mode(), data)
	}
	return nil
}

// WriteTo writes the archive, directories before their content.
func (a *Archive) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	for i, name := range slices.Sorted(maps.Keys(a.entries)) {
		c.entry(i+1, name, a.entries[name])
	}
	c.entry(0, "TRAILER!!!", entry{})
	return c.n, c.err
}

// WriteTar writes the same tree as tar(5), for an image of a container. The same tree is the same
// bytes: it has no times.
func (a *Archive) WriteTar(w io.Writer) error {
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(a.entries)) {
		e := a.entries[name]
		header := &tar.Header{Name: name, Mode: int64(e.mode &^ typeMask), Uid: int(e.uid), Gid: int(e.uid), Typeflag: tar.TypeReg}
		switch e.mode & typeMask {
		case typeDir:
			header.Typeflag = tar.TypeDir
		case typeLink:
			header.Typeflag, header.Linkname, e.data = tar.TypeSymlink, string(e.data), nil
		}
		header.Size = int64(len(e.data))
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(e.data); err != nil {
			return err
		}
	}
	return out.Close()
}

type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) entry(inode int, name string, e entry) {
	links := 1
	if e.mode&typeDir != 0 && e.mode&typeFile != typeFile {
		links = 2
	}
	c.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		inode, e.mode, e.uid, e.uid, links, 0, len(e.data), 0, 0, 0, 0, len(name)+1, 0, name))
	c.pad()
	c.write(e.data)
	c.pad()
}

func (c *counter) pad() { c.write(make([]byte, (4-c.n%4)%4)) }

func (c *counter) write(b []byte) {
	if c.err == nil {
		n, err := c.w.Write(b)
		c.n, c.err = c.n+int64(n), err
	}
}
