package gitguard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Identity is ethos-git's own program file.
type Identity struct {
	Path string // of the file, with symbolic links resolved
	info os.FileInfo
}

// Self identifies the running program. On Linux that is the file that runs, even if another file
// has replaced it.
func Self() (Identity, error) {
	path, err := program()
	if err != nil {
		return Identity{}, fmt.Errorf("find ethos-git's own program: %w", err)
	}
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("find ethos-git's own program: %w", err)
	}
	id := Identity{Path: path, info: info}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		id.Path = resolved
	}
	return id, nil
}

// IdentityOf identifies an ethos-git by its file.
func IdentityOf(path string) (Identity, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Identity{}, err
	}
	info, err := os.Stat(resolved)
	return Identity{Path: resolved, info: info}, err
}

// Is reports whether a file is this program: the same device and inode.
func (id Identity) Is(info os.FileInfo) bool { return id.info != nil && os.SameFile(id.info, info) }

// Trusts says why a program, given by its resolved path, must not be used as git. The program and
// every directory above it must belong to root or to the owner of ethos-git, and nobody else may be
// able to write to them. The result is "" if the program is trusted.
func (id Identity) Trusts(resolved string) string {
	for path := resolved; ; path = filepath.Dir(path) {
		if reason := id.ownership(path); reason != "" {
			return reason
		}
		if path == filepath.Dir(path) {
			return ""
		}
	}
}

func (id Identity) ownership(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "cannot tell who owns " + path
	case st.Uid != 0 && st.Uid != id.owner():
		return fmt.Sprintf("%s belongs to user %d", path, st.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return path + " may be written by others"
	}
	return ""
}

func (id Identity) owner() uint32 {
	if id.info != nil {
		if st, ok := id.info.Sys().(*syscall.Stat_t); ok {
			return st.Uid
		}
	}
	return 0
}

// fileKind is the kind of a program file, judged by its first bytes.
type fileKind int

const (
	binary fileKind = iota
	script
	ourScript
	ourBuild
)

// headBytes is how many bytes of a file are examined: the ELF notes with Go's mark are at the
// beginning, and a shim is short.
const headBytes = 4096

// goNote is the name of the ELF note in which the Go linker stores the build ID.
var goNote = []byte("\x04\x00\x00\x00Go\x00\x00")

// kindOf examines a program without running it.
func kindOf(file string) (fileKind, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrPermission) { // it may still be executable; to be safe, it counts as a shim
		return script, nil
	}
	if err != nil {
		return binary, err
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return binary, err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")) && bytes.Contains(head, []byte("ethos-git")):
		return ourScript, nil
	case bytes.HasPrefix(head, []byte("#!")):
		return script, nil
	case mayBeGo(head) && ours(f):
		return ourBuild, nil
	}
	return binary, nil
}

// mayBeGo avoids the full examination of ELF programs that the Go linker has not made.
func mayBeGo(head []byte) bool {
	return !bytes.HasPrefix(head, []byte("\x7fELF")) || bytes.Contains(head, goNote)
}

// maxProgram is the size limit for the full examination. A larger Go program counts as ethos-git,
// which is the safe choice.
const maxProgram = 256 << 20

// ours reports whether a Go program is a build of ethos-git: the linker stores the path of the main
// package in it, in the text from which runtime/debug.BuildInfo is made.
func ours(f io.Reader) bool {
	mark := []byte("path\tethos/cmd/ethos-" + "git\n")
	var window []byte
	buf := make([]byte, 1<<20)
	for read := 0; read < maxProgram; {
		n, err := f.Read(buf)
		window = append(window, buf[:n]...)
		if bytes.Contains(window, mark) {
			return true
		}
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
		window = append([]byte{}, window[max(0, len(window)-len(mark)):]...)
		read += n
	}
	return true
}
