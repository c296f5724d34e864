// Package ceiling reads the upper bound that the administrator of a machine sets on what ethos
// allows: the directory /etc/ethos.
//
//	files, err := ceiling.Read() // none, and no error, if the machine has no /etc/ethos
//	c, err := ceiling.InForce()  // the same as ethos-decide understands it, for programs that read no YAML
//
// The place is fixed: no variable, option or file of a user changes it. Its content counts if it,
// and every directory above it, belongs to root and nobody else can write to it. Anything else
// there is an error, and then nothing runs.
//
// # Limits
//
// Whoever creates a mount namespace can mount another directory in its place for what runs there,
// just as they can run other programs than ethos. The digest of the ceiling is in each decision, so
// whoever has the decision can see whether it was made without the ceiling.
package ceiling

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/timerslack"
)

// Dir is the administrator's directory.
const Dir = "/etc/ethos"

// The names in the directory.
const (
	Name     = "ceiling.yaml"
	Policies = "policy.d" // directory of policy files
	Keys     = "trusted_keys"
)

// MaxFile is the size limit of a file, in bytes.
const MaxFile = 1 << 20

// ErrUnusable is wrapped by the errors of this package.
var ErrUnusable = errors.New("the administrator's limits cannot be read, so nothing is allowed")

// Ceiling is the upper bound for every action.
type Ceiling struct {
	Digest       string             `json:"digest"` // "sha256:" and the SHA-256 of names and contents, in hex
	Capabilities capability.Written `json:"capabilities"`
	Require      []string           `json:"require"` // controls that must be enforced, or nothing runs
	Records      bool               `json:"records"` // an action that cannot be recorded does not run
	Export       *Export            `json:"export,omitempty"`
	Bundle       string             `json:"bundle,omitempty"` // the bundle that installed the files, for people
}

// Export says where records must be sent; it also requires records.
type Export struct {
	To     string        `json:"to"`     // base URL of a collector
	Within time.Duration `json:"within"` // in nanoseconds: no call passes while the store has an unsent record older than this
}

// Lines describes the ceiling for people, without the policies.
func (c *Ceiling) Lines() (list []string) {
	if c.Bundle != "" {
		list = append(list, "bundle   "+c.Bundle)
	}
	for _, line := range c.Capabilities.Lines() {
		list = append(list, "at most  "+line)
	}
	for _, name := range c.Require {
		list = append(list, "requires "+name)
	}
	if c.Records {
		list = append(list, "requires records")
	}
	if c.Export != nil {
		list = append(list, fmt.Sprintf("requires export to %s within %v", c.Export.To, c.Export.Within))
	}
	return list
}

// File is a file of the directory.
type File struct {
	Name string // absolute
	Text []byte
}

// Read reads the directory: ceiling.yaml, if it exists, then the policy files by name. If there is
// no directory, the cost is one failed open. All is read through one descriptor, because [Install]
// may replace the directory in the meantime: a mixture of two directories is neither of them.
func Read() ([]File, error) {
	for range 3 {
		dir, err := open(nil, Dir, syscall.O_DIRECTORY)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
		files, err := read(dir)
		same := stands(dir)
		dir.Close()
		switch {
		case !same: // it may have been removed while it was read
			continue
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
		return files, nil
	}
	return nil, fmt.Errorf("%w: %s keeps being replaced", ErrUnusable, Dir)
}

// stands reports whether the directory is still the one that was opened.
func stands(dir *os.File) bool {
	was, err := dir.Stat()
	is, gone := os.Lstat(Dir)
	return err == nil && gone == nil && os.SameFile(was, is)
}

func read(dir *os.File) ([]File, error) {
	for _, above := range []string{"/", filepath.Dir(Dir)} {
		if mapped() {
			break // root's files belong to whoever made the namespace, as in the boundary of ethos-sandbox
		}
		f, err := open(nil, above, syscall.O_DIRECTORY)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	return list(dir, open)
}

// ReadFrom reads a directory of the same form, whoever owns it. Its files get the names that they
// would have in [Dir].
func ReadFrom(dir string) ([]File, error) {
	at, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	files, err := list(at, openAny)
	for i := range files {
		files[i].Name = filepath.Join(Dir, strings.TrimPrefix(files[i].Name, filepath.Clean(dir)+"/"))
	}
	return files, err
}

// list reads those files of a directory that count.
func list(dir *os.File, open opener) (files []File, err error) {
	here, err := names(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range here {
		switch {
		case name == Name:
			if files, err = add(files, dir, name, open); err != nil {
				return nil, err
			}
		case isYAML(name):
			return nil, fmt.Errorf("%s is not read: its name must be %s, or it belongs in %s", filepath.Join(dir.Name(), name), Name, Policies)
		}
	}
	below, err := open(dir, Policies, syscall.O_DIRECTORY)
	if errors.Is(err, fs.ErrNotExist) {
		return nonNil(files), nil
	}
	if err != nil {
		return nil, err
	}
	defer below.Close()
	policies, err := names(below)
	for _, name := range policies {
		if err == nil && isYAML(name) {
			files, err = add(files, below, name, open)
		}
	}
	return nonNil(files), err
}

// names returns the names in a directory, sorted.
func names(dir *os.File) ([]string, error) {
	list, err := dir.Readdirnames(-1)
	slices.Sort(list)
	return list, err
}

// nonNil distinguishes a directory without files from no directory.
func nonNil(files []File) []File {
	if files == nil {
		return []File{}
	}
	return files
}

func isYAML(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml"))
}

func add(files []File, at *os.File, name string, open opener) ([]File, error) {
	f, err := open(at, name, syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(text) > MaxFile {
		err = fmt.Errorf("%s is longer than %d bytes", f.Name(), MaxFile)
	}
	return append(files, File{f.Name(), text}), err
}

// opener opens a directory or a regular file, depending on its flags. Its name is relative to a
// directory, or absolute.
type opener func(at *os.File, name string, flags int) (*os.File, error)

// open opens a directory or a regular file that belongs to root and that nobody else can write to.
// The directories above must have been opened before.
func open(at *os.File, name string, flags int) (*os.File, error) {
	return opened(at, name, flags, roots)
}

func openAny(at *os.File, name string, flags int) (*os.File, error) {
	return opened(at, name, flags, kind)
}

func opened(at *os.File, name string, flags int, check func(name string, info fs.FileInfo, dir bool) error) (*os.File, error) {
	f, err := openat(at, name, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|flags)
	if at != nil {
		name = filepath.Join(at.Name(), name)
	}
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s is a link, or not a directory", name)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(name, info, flags&syscall.O_DIRECTORY != 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openat opens a name in a directory that is open, or an absolute name: openat(2).
func openat(at *os.File, name string, flags int) (*os.File, error) {
	fd, full := unix.AT_FDCWD, name
	if at != nil {
		fd, full = int(at.Fd()), filepath.Join(at.Name(), name)
	}
	for {
		got, err := unix.Openat(fd, name, flags, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "open", Path: full, Err: err}
		}
		return os.NewFile(uintptr(got), full), nil
	}
}

func kind(name string, info fs.FileInfo, dir bool) error {
	if info.IsDir() != dir || !dir && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is of the wrong type: a directory or a regular file must be there", name)
	}
	return nil
}

func roots(name string, info fs.FileInfo, dir bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if err := kind(name, info, dir); err != nil {
		return err
	}
	switch {
	case !ok || st.Uid != 0 && (st.Uid != overflow || !mapped()):
		return fmt.Errorf("%s does not belong to root: chown root %s", name, name)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("users other than root can write %s: chmod go-w %s", name, name)
	}
	return nil
}

// overflow is the user ID of a file whose owner has no ID in the user namespace; see
// user_namespaces(7).
const overflow = 65534

// mapped reports whether this is a user namespace in which users have other IDs than on the
// machine.
func mapped() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}

// Digest returns the digest of files.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%d\x00%s", f.Name, len(f.Text), f.Text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// reader is the program that parses the files. It lies beside this one.
const reader = "ethos-decide"

// InForce returns the ceiling, or nil if there is none. It is read once, and
// again after [Forget].
func InForce() (*Ceiling, error) {
	inForce.Lock()
	defer inForce.Unlock()
	if !inForce.read {
		inForce.ceiling, inForce.err = readAndParse()
		inForce.read = true
	}
	return inForce.ceiling, inForce.err
}

// Forget makes [InForce] read the ceiling again.
func Forget() {
	inForce.Lock()
	inForce.read = false
	inForce.Unlock()
}

var inForce struct {
	sync.Mutex
	read    bool
	ceiling *Ceiling
	err     error
}

func readAndParse() (*Ceiling, error) {
	dir, err := open(nil, Dir, syscall.O_DIRECTORY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var c *Ceiling
	if err == nil {
		dir.Close()
		c, err = ask()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return c, nil
}

// limit is how long the reader may take.
const limit = time.Minute

// ask has the files parsed. The caller's environment has no influence.
func ask() (*Ceiling, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), reader), "ceiling", "--json")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", []string{}, &out, &errs
	if err := timerslack.Start(cmd.Run); err != nil {
		if said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); said != "" {
			return nil, errors.New(strings.TrimPrefix(said, reader+": error: "))
		}
		return nil, fmt.Errorf("install %s beside this program: %w", reader, err)
	}
	c := &Ceiling{}
	if err := json.Unmarshal(out.Bytes(), c); err != nil || c.Digest == "" {
		return nil, fmt.Errorf("%s ceiling --json: %q", reader, out.Bytes()[:min(len(out.Bytes()), 200)])
	}
	return c, nil
}
