package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/gitsettings"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// gitSettings gives the command copies of git's configuration files, and applies harmless
// changes of the copies to the files: [plan.GitSettings], package gitsettings.
//
// The copies are on the run's own tmpfs. They are read through a descriptor of their
// directory that was opened before the command began. They can therefore be read when
// everything inside is dead, and nothing of them remains if this process is killed.
type gitSettings struct {
	*Job
	defaults
	dir   *os.File
	files []settingsFile
	found []record.Denial
	told  int // how many of found Look has reported
	taken []record.GitSettings
}

type settingsFile struct {
	plan.GitSettings
	settings *gitsettings.Settings
	made     []byte // its content when it was last read
}

// Prepare parses the initial content of the copies.
func (c *gitSettings) Prepare(context.Context) error {
	for _, g := range c.Plan.GitSettings {
		about := gitsettings.About{Worktree: filepath.Base(g.Path) != "config", Identified: g.Identified}
		settings, err := gitsettings.New(g.Text, about)
		if err != nil {
			return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("%s: %w", g.Path, err)}
		}
		c.files = append(c.files, settingsFile{g, settings, g.Text})
	}
	return nil
}

// Steps write the copies once the command's root is the root.
func (c *gitSettings) Steps(at Phase, p *Program) {
	if at != InitInside {
		return
	}
	const stage = "git settings"
	for i := range c.files {
		f := &c.files[i]
		dir, fd := filepath.Dir(f.Copy), p.Slots.New()
		open := step(stage, "openat", unix.SYS_OPENAT, f.Copy, steps.Int(unix.AT_FDCWD), steps.Str(f.Copy), steps.Int(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC), steps.Int(0o644))
		open.Save = fd
		p.Init = append(p.Init, step(stage, "mkdirat", unix.SYS_MKDIRAT, dir, steps.Int(unix.AT_FDCWD), steps.Str(dir), steps.Int(0o700)), open)
		if len(f.Text) > 0 {
			write := step(stage, "write", unix.SYS_WRITE, f.Copy, steps.From(fd), steps.Buf(f.Text), steps.Int(len(f.Text)))
			write.Want = int32(len(f.Text))
			p.Init = append(p.Init, write)
		}
		p.Init = append(p.Init, step(stage, "close", unix.SYS_CLOSE, f.Copy, steps.From(fd)))
	}
}

// VerifyPlace opens the directory of the copies.
func (c *gitSettings) VerifyPlace(pid int) error {
	if len(c.files) == 0 {
		return nil
	}
	dir, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/root"+plan.SettingsDir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Unreadable(err)
	}
	c.dir = dir
	return nil
}

// Finish applies the settings that the command has made. Everything inside is dead.
func (c *gitSettings) Finish(context.Context) {
	var own *os.File
	if c.dir != nil && c.Alone != nil && c.Alone() {
		if dir, err := openDirectory(c.Job.Plan.Own); err == nil {
			own = dir
			defer own.Close()
		}
	}
	c.takeOver(own)
}

// Look applies the settings that the commands of a session have made so far.
func (c *gitSettings) Look(context.Context, bool) []record.Denial {
	c.takeOver(nil)
	list := c.found[c.told:]
	c.told = len(c.found)
	return list
}

func (c *gitSettings) Wake(context.Context) error { return nil }

func (c *gitSettings) Clear() {
	if c.dir != nil {
		c.dir.Close()
		c.dir = nil
	}
}

func (c *gitSettings) Evidence(e *record.Sandbox, _ bool) {
	e.GitSettings = append(e.GitSettings, c.taken...)
	e.Denials = append(e.Denials, c.found...)
}

// takeOver compares each file. own is ethos's directory if no other run has a mount on the
// files; see [settingsLock.write].
func (c *gitSettings) takeOver(own *os.File) {
	if c.dir == nil {
		return
	}
	for i := range c.files {
		f := &c.files[i]
		made, err := c.read(f)
		switch {
		case err == nil && bytes.Equal(made, f.made):
			continue
		case err == nil && c.opened() != "":
			err = errors.New("the boundary changed while the command ran")
		case err == nil:
			err = c.take(f, made, own)
		}
		if f.made = made; err != nil {
			c.deny(f.Path, "the settings that the command made", "they were not copied to your configuration: "+err.Error(), "make them again, inside or outside of the sandbox")
		}
	}
}

// read reads a copy. It must be a regular file of bounded size, whatever the command has
// put in its place. A missing copy is an error.
func (c *gitSettings) read(f *settingsFile) ([]byte, error) {
	rel, err := filepath.Rel(plan.SettingsDir, f.Copy)
	if err != nil {
		return nil, err
	}
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV}
	fd, err := unix.Openat2(int(c.dir.Fd()), rel, &how)
	if err != nil {
		return nil, &os.PathError{Op: "openat2", Path: f.Copy, Err: err}
	}
	text, _, err := readSettings(os.NewFile(uintptr(fd), f.Copy))
	return text, err
}

// maxSettings bounds the size of a configuration file, in bytes.
const maxSettings = 1 << 20

func readSettings(file *os.File) (text []byte, st unix.Stat_t, err error) {
	defer file.Close()
	if err = unix.Fstat(int(file.Fd()), &st); err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 1 || st.Size > maxSettings) {
		err = errors.New("it is not a regular file of at most 1 MiB")
	}
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(file, maxSettings))
	}
	return text, st, err
}

// take writes the accepted settings to the file, under git's own lock: lockfile.h.
func (c *gitSettings) take(f *settingsFile, made []byte, own *os.File) error {
	lock, err := lockSettings(f.Path)
	if err != nil {
		return err
	}
	defer lock.close()
	comparison, err := f.settings.Compare(made, lock.text)
	for i, r := range comparison.Refused {
		if i == maxFindings {
			c.deny(f.Path, strconv.Itoa(len(comparison.Refused)-i)+" more", "like those above", "")
			break
		}
		c.refuse(f.Path, r)
	}
	if err != nil || comparison.Text == nil {
		return err
	}
	if err := lock.write(comparison.Text, own); err != nil {
		return err
	}
	f.settings.Done(comparison)
	c.taken = append(c.taken, record.GitSettings{Path: f.Path, Keys: comparison.Keys})
	return nil
}

// refuse reports a setting that was not applied. Its remedy does not contain the value of a
// setting that git would run: whoever wants it must type it.
func (c *gitSettings) refuse(path string, r gitsettings.Refusal) {
	file := "git config -f " + printable.Word(path)
	what, remedy := r.Key+" removed", file+" --unset-all "+printable.Word(r.Key)
	if len(r.Values) > 0 {
		value := r.Values[len(r.Values)-1]
		what, remedy = r.Key+" = "+value, file+" "+printable.Word(r.Key)+" "+printable.Word(value)
	}
	if len(r.Values) > 0 && r.Runs || len(remedy) > maxShown {
		remedy = file + " --edit"
	}
	c.deny(path, what, "it took effect only inside the sandbox, and was not copied to your configuration: "+r.Why, "if you want it, outside of the sandbox: "+remedy)
}

func (c *gitSettings) deny(path, what, reason, remedy string) {
	c.found = append(c.found, record.Denial{Layer: plan.ControlGit, What: shown(path + ": " + what), Reason: shown(reason), Path: path, Remedy: remedy})
}

// settingsLock is a configuration file under git's lock.
type settingsLock struct {
	dir   *os.File
	name  string
	file  *os.File // NAME.lock
	text  []byte   // the present content
	st    unix.Stat_t
	there bool
}

// lockTries is how often to try for the lock, 10 ms apart. Git holds it for less time.
const lockTries = 50

func lockSettings(path string) (*settingsLock, error) {
	dir, err := openDirectory(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := &settingsLock{dir: dir, name: filepath.Base(path)}
	if err = l.hold(); err == nil {
		err = l.read()
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

func (l *settingsLock) hold() error {
	for try := 0; ; try++ {
		fd, err := unix.Openat(int(l.dir.Fd()), l.name+".lock", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		switch {
		case err == nil:
			l.file = os.NewFile(uintptr(fd), l.name)
			return nil
		case err != unix.EEXIST && err != unix.EINTR:
			return os.NewSyscallError("openat", err)
		case try == lockTries:
			return errors.New(l.name + ".lock exists: a process writes to the file, or a git that was killed left it behind")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (l *settingsLock) read() error {
	fd, err := unix.Openat(int(l.dir.Fd()), l.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return os.NewSyscallError("openat", err)
	}
	l.there = true
	l.text, l.st, err = readSettings(os.NewFile(uintptr(fd), l.name))
	return err
}

// write replaces the content of the file. With own, a directory that no command sees, the
// new content is written there and renamed over the file. own is nil if the file must not
// be replaced, because that would remove the mounts of other runs and of the commands of a
// session. The content is then written in place, by one call, padded so that the file does
// not become shorter.
func (l *settingsLock) write(text []byte, own *os.File) error {
	if own != nil {
		if err := l.replace(text, own); !errors.Is(err, unix.EXDEV) {
			return err
		}
	}
	return l.overwrite(text)
}

// newSettings is the name of the new file in ethos's directory.
const newSettings = "settings"

func (l *settingsLock) replace(text []byte, own *os.File) error {
	mode := uint32(0o644)
	if l.there {
		mode = l.st.Mode & 0o777
	}
	unix.Unlinkat(int(own.Fd()), newSettings, 0) // left by a killed run
	fd, err := unix.Openat(int(own.Fd()), newSettings, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "openat", Path: newSettings, Err: err}
	}
	defer unix.Close(fd)
	if err = writeAll(fd, text); err == nil {
		err = errors.Join(unix.Fchmod(fd, mode), unix.Renameat(int(own.Fd()), newSettings, int(l.dir.Fd()), l.name))
	}
	if err != nil {
		unix.Unlinkat(int(own.Fd()), newSettings, 0)
	}
	return err
}

func (l *settingsLock) overwrite(text []byte) error {
	flags := unix.O_WRONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !l.there {
		flags |= unix.O_CREAT | unix.O_EXCL
	}
	fd, err := unix.Openat(int(l.dir.Fd()), l.name, flags, 0o644)
	if err != nil {
		return &os.PathError{Op: "openat", Path: l.name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || l.there && (st.Ino != l.st.Ino || st.Dev != l.st.Dev) {
		return errors.New("it was replaced meanwhile")
	}
	if less := len(l.text) - len(text); less > 0 {
		text = append(bytes.TrimSuffix(text, []byte("\n")), []byte(strings.Repeat("\n", less+1))...)
	}
	return writeAll(fd, text)
}

// writeAll writes at the start of a file, by one call.
func writeAll(fd int, text []byte) error {
	if n, err := unix.Pwrite(fd, text, 0); err != nil || n != len(text) {
		return fmt.Errorf("%d of %d bytes were written: %w", max(n, 0), len(text), errors.Join(err, io.ErrShortWrite))
	}
	return nil
}

func (l *settingsLock) close() {
	if l.file != nil {
		unix.Unlinkat(int(l.dir.Fd()), l.name+".lock", 0)
		l.file.Close()
	}
	l.dir.Close()
}
