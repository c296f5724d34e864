package signing

import (
	"bytes"
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

// look checks what a signing program reads, runs and connects to outside. The
// command must not be able to change any of it, nor a symbolic link that leads
// to it.
type look struct {
	getenv func(string) string
	path   string // PATH without what the command can change
	writes func(string) bool
	seen   int // number of directory entries checked
}

// The limits of the checks.
const (
	maxInterpreters = 4 // execve(2)
	maxFirstLine    = 256
	maxEntries      = 4096
	maxConf         = 64 << 10
)

// systemGnuPG is where distributions have GnuPG look for the system
// configuration.
const systemGnuPG = "/etc/gnupg"

// reads returns an error if the command can change the surroundings of a
// program, or GnuPG's configuration, which names programs.
func (l *look) reads() error {
	for _, name := range []string{"GNUPGHOME", "SSH_AUTH_SOCK", "SSH_ASKPASS", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		if path := l.getenv(name); filepath.IsAbs(path) {
			if err := l.missing(settled(path, l.writes)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if path := l.getenv("SSH_ASKPASS"); path != "" {
		if err := l.missing(l.program(path)); err != nil {
			return fmt.Errorf("SSH_ASKPASS: %w", err)
		}
	}
	runtime := "/run/user/" + strconv.Itoa(os.Geteuid()) // GnuPG's sockets, whatever XDG_RUNTIME_DIR says
	dirs := []string{systemGnuPG, l.getenv("GNUPGHOME"), filepath.Join(l.getenv("HOME"), ".gnupg"), filepath.Join(l.getenv("XDG_RUNTIME_DIR"), "gnupg"), filepath.Join(runtime, "gnupg")}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		err := l.gnupg(dir, 2)
		if errors.Is(err, fs.ErrNotExist) || dir == systemGnuPG && errors.Is(err, fs.ErrPermission) { // gpg does not read it either
			continue
		}
		if err != nil {
			return fmt.Errorf("the configuration of GnuPG: %w", err)
		}
	}
	return nil
}

// missing accepts a path that does not exist: the command can change nothing
// that would create it.
func (l *look) missing(_ string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// gnupg checks each entry of a GnuPG directory, and of its subdirectories.
func (l *look) gnupg(dir string, depth int) error {
	real, err := settled(dir, l.writes)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	if l.seen += len(entries); l.seen > maxEntries {
		return fmt.Errorf("%s: more than %d files", dir, maxEntries)
	}
	for _, entry := range entries {
		path := filepath.Join(real, entry.Name())
		file, err := settled(path, l.writes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(file)
		switch {
		case err != nil:
		case info.IsDir() && depth > 1:
			err = l.gnupg(file, depth-1)
		case !info.Mode().IsRegular():
		case strings.Contains(entry.Name(), ".conf"): // gpg.conf-2.2 counts as well
			err = l.conf(path, file)
		case strings.HasPrefix(entry.Name(), "S."):
			err = l.redirected(path, file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// conf checks what a GnuPG configuration file names: programs, by path or name,
// and other files.
func (l *look) conf(name, file string) error {
	text, err := begin(file, maxConf+1)
	if err != nil {
		return err
	}
	if len(text) > maxConf {
		return fmt.Errorf("%s is larger than %d bytes", name, maxConf)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-")
		at := strings.IndexAny(line, " \t=")
		if at < 0 || line[0] == '#' {
			continue
		}
		value := home(os.Expand(strings.Trim(line[at+1:], " \t=\"'"), l.getenv), l.getenv)
		switch option := line[:at]; {
		case strings.HasSuffix(option, "-program"):
			err = l.missing(l.program(value))
		case filepath.IsAbs(value):
			err = l.missing(settled(value, l.writes))
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, line[:at], err)
		}
	}
	return nil
}

// redirected checks the socket that a file in its place names: libassuan,
// assuan_sock_set_sockaddr_un.
func (l *look) redirected(name, file string) error {
	text, err := begin(file, maxFirstLine)
	rest, ok := strings.CutPrefix(string(text), "%Assuan%\nsocket=")
	if err != nil || !ok {
		return err
	}
	socket, _, _ := strings.Cut(rest, "\n")
	socket = os.Expand(socket, l.getenv)
	if !filepath.IsAbs(socket) {
		return fmt.Errorf("%s names the socket %q, which is not an absolute path", name, socket)
	}
	return l.missing(settled(socket, l.writes))
}

// begin reads the first bytes of a regular file.
func begin(file string, most int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// program returns the real path of a program, given by absolute path or by a
// name on PATH.
func (l *look) program(name string) (string, error) { return l.programAt(name, maxInterpreters) }

func (l *look) programAt(name string, more int) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("%q is not an absolute path", name)
		}
		return l.executable(name, more)
	}
	for dir := range strings.SplitSeq(l.path, ":") {
		path := filepath.Join(dir, name)
		if dir == "" || name == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return l.executable(path, more)
		}
	}
	return "", fmt.Errorf("%q is not in a directory of PATH that the command cannot change: %w", name, fs.ErrNotExist)
}

// executable returns the real path of a program. It also checks the
// interpreter, and the interpreter's interpreter.
func (l *look) executable(path string, more int) (string, error) {
	real, err := settled(path, l.writes)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = &fs.PathError{Op: "execute", Path: real, Err: syscall.EACCES}
	}
	if err == nil {
		err = l.interpreter(real, more)
	}
	return real, err
}

// interpreter checks what runs a script: execve(2), Interpreter scripts.
func (l *look) interpreter(script string, more int) error {
	text, err := begin(script, maxFirstLine)
	if errors.Is(err, fs.ErrPermission) {
		return nil // an unreadable script cannot run
	}
	line, ok := bytes.CutPrefix(text, []byte("#!"))
	if err != nil || !ok {
		return err
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(line))
	switch {
	case more == 0:
		return fmt.Errorf("%s: a chain of more than %d interpreters", script, maxInterpreters)
	case len(words) == 0 || !ended && len(text) == maxFirstLine:
		return fmt.Errorf("%s: its interpreter cannot be determined", script)
	case !filepath.IsAbs(words[0]):
		return fmt.Errorf("%s: the interpreter %q is not an absolute path", script, words[0])
	}
	real, err := l.executable(words[0], more-1)
	if err != nil {
		return fmt.Errorf("%s: its interpreter: %w", script, err)
	}
	args := words[1:]
	if (filepath.Base(words[0]) == "env" || filepath.Base(real) == "env") && len(args) > 0 {
		if args[0] == "-S" {
			args = args[1:]
		}
		if len(args) == 0 || strings.ContainsAny(args[0], "=\\'\"$") || strings.HasPrefix(args[0], "-") {
			return fmt.Errorf("%s: its interpreter cannot be determined from %q", script, line)
		}
		if _, err := l.programAt(args[0], more-1); err != nil {
			return fmt.Errorf("%s: its interpreter: %w", script, err)
		}
		args = args[1:]
	}
	for _, arg := range args {
		if filepath.IsAbs(arg) {
			if err := l.missing(settled(arg, l.writes)); err != nil {
				return fmt.Errorf("%s: its interpreter: %w", script, err)
			}
		}
	}
	return nil
}

// pathWithout removes the directories that the command can change, and relative
// ones.
func pathWithout(path string, writes func(string) bool) string {
	var list []string
	for dir := range strings.SplitSeq(path, ":") {
		if _, err := settled(dir, writes); err == nil && filepath.IsAbs(dir) {
			list = append(list, dir)
		}
	}
	return strings.Join(list, ":")
}

// maxLinks is the kernel's limit: path_resolution(7).
const maxLinks = 40

// settled returns a path without symbolic links. It is an error if the command
// can change one of the links, or a directory on the way.
func settled(path string, writes func(string) bool) (string, error) {
	at, rest, links := "/", strings.Split(filepath.Clean(path), "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if writes(next) {
			return "", fmt.Errorf("%s: the command can change %s", path, next)
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", errors.Join(err, &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP})
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}
