package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/bwrap"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
)

// root is a mount namespace whose root contains the mounts of the plan and nothing else:
// mount_namespaces(7). The host's root is not hidden below it but detached, so no path leads
// there, with or without "..". The command inherits no descriptor of a directory outside.
type root struct {
	namespace
	umask    steps.Slot
	table    *os.File // mountinfo; it also becomes readable by poll when it changes
	receives bool     // mounts of the host appear in the command's
}

func newMount(j *Job) *root {
	return &root{namespace: newNamespace(j, "mount", "mount", "mnt", unix.CLONE_NEWNS)}
}

func (c *root) Requested() (string, bool) {
	return fmt.Sprintf("a root of %d mounts", len(c.Job.Plan.Mounts)), true
}

// Prepare provides sources for the masks that hide paths from a command with
// CAP_DAC_OVERRIDE over root's files: a directory and a file that belong to nobody.
func (c *root) Prepare(context.Context) error {
	if c.Job.Plan.Owner == nil {
		return nil
	}
	var closed [2]string // a directory, a file
	for i := range c.Mounts {
		m := &c.Mounts[i]
		if m.Kind != mount.Mask {
			continue
		}
		if closed[0] == "" {
			var err error
			if closed, err = nobodys(c.Job.Plan); err != nil {
				return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("mask for hidden paths: %w", err), Hint: "root must own the state folder: ~/.local/state/ethos, or ethos in XDG_STATE_HOME"}
			}
		}
		if m.Source = closed[0]; m.File {
			m.Source = closed[1]
		}
	}
	return nil
}

// nobodys creates a directory and a file in the state folder that nobody may open. They
// have no permissions, and their owner is not mapped in the user namespace.
func nobodys(p *plan.Plan) (closed [2]string, err error) {
	const nobody = 65534
	id := nobody
	if p.Owner.UID == nobody {
		id--
	}
	dir, err := statedir.Make(p.Getenv, "closed")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return closed, err
	}
	closed = [2]string{filepath.Join(dir, "directory-"+strconv.Itoa(id)), filepath.Join(dir, "file-"+strconv.Itoa(id))}
	if err := os.Mkdir(closed[0], 0); err != nil && !errors.Is(err, os.ErrExist) {
		return closed, err
	}
	f, err := os.OpenFile(closed[1], os.O_CREATE|os.O_RDONLY, 0)
	if err != nil {
		return closed, err
	}
	f.Close()
	for _, path := range closed {
		if err := errors.Join(os.Chmod(path, 0), os.Lchown(path, id, id)); err != nil {
			return closed, err
		}
	}
	return closed, nil
}

// Steps build the root in init, and enter the working directory in the command. With the
// backend bwrap the root exists already.
func (c *root) Steps(at Phase, p *Program) {
	c.namespace.Steps(at, p)
	switch {
	case c.Wrapped && at == Place:
		dir := c.Job.Plan.Dir
		p.Command = append(p.Command, step("mount", "chdir", unix.SYS_CHDIR, dir, steps.Str(dir)))
	case c.Wrapped:
	case at == InitRoot:
		built := mount.Steps(p.Init, c.Mounts, mount.Options{ScratchBytes: c.Job.Plan.ScratchBytes, ProcFiles: c.Job.Plan.ProcFiles, OpenFiles: c.machine.limit(limits.OpenFiles).Soft, Declared: c.Job.Plan.Descriptors, Needed: c.restricted()}, &p.Slots)
		p.Init, p.Trees, c.umask = built.Steps, built.Trees, built.Umask
	case at == Place:
		dir := c.Job.Plan.Dir
		p.Command = append(p.Command,
			step("mount", "umask", unix.SYS_UMASK, "", steps.From(c.umask)),
			step("mount", "chdir", unix.SYS_CHDIR, dir, steps.Str(dir)))
	}
}

// restricted returns a function that reports whether Landlock may have a rule for a mount,
// which takes the mount's descriptor. It has none for masks, and none for what only holds a
// directory in place.
func (c *root) restricted() func(*mount.Mount) bool {
	shown := make(map[string]bool, len(c.Job.Plan.Paths))
	for _, e := range c.Job.Plan.Paths {
		shown[e.Path] = e.Access != plan.Hidden
	}
	return func(m *mount.Mount) bool {
		return m.Kind != mount.Mask && (m.Kind != mount.Bind || m.Device || plan.Managed(*m) || shown[m.Target])
	}
}

// VerifyPlace compares the mount table with the plan. The file stays open: poll(2) reports a
// change of the table by POLLPRI, proc_pid_mounts(5), and the same file then gives the new
// one, also if the number of the process has been reused.
func (c *root) VerifyPlace(pid int) error {
	if err := c.namespace.VerifyPlace(pid); err != nil {
		return err
	}
	name := "/proc/" + strconv.Itoa(pid) + "/mountinfo"
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Unreadable(fmt.Errorf("%s: %w", name, err))
	}
	c.table = os.NewFile(uintptr(fd), name)
	text, err := c.readTable()
	if err != nil {
		return Unreadable(err)
	}
	return c.check(text)
}

// check compares the text of a mount table with the plan.
func (c *root) check(text string) (err error) {
	if c.Wrapped {
		c.receives, err = mount.CheckForeign(c.finalMounts(), bwrap.Additional(), text)
		return err
	}
	return mount.Check(c.finalMounts(), text)
}

func (c *root) readTable() (string, error) {
	if _, err := unix.Seek(int(c.table.Fd()), 0, io.SeekStart); err != nil {
		return "", fmt.Errorf("mount table: %w", err)
	}
	text, err := readAll(int(c.table.Fd()), c.table.Name())
	return string(text), err
}

// finalMounts returns the mounts as they were made. An overlay that could not be made in
// any way is its lower directory, read-only if it is the host's; a /proc made of copied files is a directory of
// the root.
func (c *root) finalMounts() []mount.Mount {
	mounts := slices.Clone(c.Mounts)
	for i := range mounts {
		m := &mounts[i]
		if m.Kind == mount.Overlay && len(c.fallbacks(m.Target)) >= m.Ways() {
			m.Kind, m.Writable = mount.Bind, m.Source == ""
		}
		if m.Device && c.Wrapped { // bwrap has no read-only ones
			m.Writable = true
		}
		if m.Kind == mount.BareProc {
			m.Kind = mount.Proc
			if len(c.fallbacks(m.Target)) > 0 {
				m.Kind = mount.Private
			}
		}
	}
	return mounts
}

// Run makes the process report changes of the mount table.
func (c *root) Run(p *steps.Process) { p.Watch(int(c.table.Fd())) }

// Recheck compares the mount table with the plan again. It can change from outside: if a
// file with something mounted on it is replaced or removed on the host, the kernel removes
// the mount; see __detach_mounts in fs/namespace.c.
func (c *root) Recheck() *Ending {
	text, err := c.readTable()
	if err == nil {
		err = c.check(text)
	}
	if err == nil {
		return nil
	}
	c.changed.Store(err.Error())
	return &Ending{Status: record.StatusSignaled, Layer: c.name, Why: "ended because the boundary changed: ", Reason: err.Error()}
}

// End releases the mount table, which keeps the mounts alive.
func (c *root) End() { c.Unneeded(c.table) }

// Report names what the mounts do not hold: by another program, without a whole /proc, or
// because the table changed during the run.
func (c *root) Report(line record.Control) record.Control {
	if c.Wrapped && line.State == Enforced {
		line = c.wrapped(line)
	}
	if why := c.bareProc(); why != "" && line.State == Enforced {
		line.State, line.Reason = Degraded, why
	}
	if shown := c.Job.Plan.EnvFilesShown; shown > 0 && line.State == Enforced {
		line.State, line.Reason = Degraded, fmt.Sprintf("%d environment files are too many or too deep to be hidden", shown)
	}
	if how := c.opened(); how != "" {
		line.State, line.Reason = Degraded, how
	}
	return line
}

// wrapped names the program that made the mounts, and what it does not hold.
func (c *root) wrapped(line record.Control) record.Control {
	line.Enforced += ", by " + c.Wrapper
	lacks := slices.Clone(c.Lacks)
	if c.receives {
		lacks = append(lacks, "a file system that the host mounts below a shown path appears inside, and the run then ends")
	}
	if len(lacks) > 0 {
		line.State, line.Reason = Degraded, strings.Join(lacks, "; ")
	}
	return line
}

func (c *root) Hint() string { return coveredHint }

// Instead returns the plan with another /proc if the kernel refused this one.
func (c *root) Instead(err error) *plan.Plan {
	if c.Wrapped || !procRefused(err) || c.Job.Plan.NestedUserns != "" { // the other /proc has no maps for user namespaces, and a command that mounts one would see all of it
		return nil
	}
	return withBareProc(c.Job.Plan, procCopies())
}

// coveredProc explains why proc(5) is refused: a container engine has covered parts of the
// /proc around this process.
const coveredProc = "the container around this process covers parts of its /proc"

// procRefused reports whether a run ended because the kernel refuses to mount proc(5):
// EPERM of mount(2), mount_too_revealing in fs/namespace.c.
func procRefused(err error) bool {
	var fault *steps.StepError
	return errors.As(err, &fault) && fault.Step.Stage == "mount" && fault.Step.Call == "mount" && fault.Step.Object == "/proc" && fault.Errno == syscall.EPERM
}

// withBareProc returns the plan with a /proc that contains only processes or, if that
// cannot be made either, only the given files.
func withBareProc(p *plan.Plan, files []mount.File) *plan.Plan {
	q := *p
	q.Mounts = slices.DeleteFunc(slices.Clone(p.Mounts), func(m mount.Mount) bool { return m.Target != "/proc" && mount.Within(m.Target, "/proc") })
	for i := range q.Mounts {
		if q.Mounts[i].Kind == mount.Proc {
			q.Mounts[i].Kind = mount.BareProc
		}
	}
	q.ProcFiles = files
	return &q
}

// procCopies returns copies of the machine files, each at most 1 MiB.
func procCopies() (files []mount.File) {
	for _, name := range plan.MachineFiles {
		f, err := os.Open(filepath.Join("/proc", name))
		if err != nil {
			continue // covered too, or not in this kernel
		}
		text, err := io.ReadAll(io.LimitReader(f, 1<<20))
		f.Close()
		if err == nil {
			files = append(files, mount.File{Name: name, Text: text})
		}
	}
	return files
}

// bareProc describes a /proc that is not complete; "" if it is.
func (c *root) bareProc() string {
	switch {
	case !slices.ContainsFunc(c.Mounts, func(m mount.Mount) bool { return m.Kind == mount.BareProc }):
		return ""
	case len(c.fallbacks("/proc")) == 0:
		return coveredProc + ": the one inside shows the command's processes and nothing else"
	}
	return coveredProc + ": the one inside has copies of files that describe the machine, and shows no process"
}
