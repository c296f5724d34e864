package control

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/inherited"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// stdio handles the command's three streams and the declared descriptors. Every other
// descriptor is closed by the command's execve.
type stdio struct {
	*Job
	defaults
	opened []*os.File
}

// Prepare moves the command's three descriptors to numbers above 2, unless they are already
// in place.
func (c *stdio) Prepare(context.Context) error { return plan.AsSetup(c.prepare()) }

func (c *stdio) prepare() error {
	for i, f := range [3]*os.File{c.IO.Stdin, c.IO.Stdout, c.IO.Stderr} {
		if f == nil || i == 0 && c.Plan.CloseStdin {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			c.opened = append(c.opened, null)
			f = null
		}
		fd := int(f.Fd())
		if err := checkStream(c.Plan, fd, i); err != nil {
			return err
		}
		if fd <= 2 && (fd != i || !inherited.Has(fd)) {
			dup, err := unix.Dup(fd)
			if err != nil {
				return fmt.Errorf("duplicate descriptor %d: %w", fd, err)
			}
			unix.CloseOnExec(dup)
			c.opened = append(c.opened, os.NewFile(uintptr(dup), f.Name()))
			fd = dup
		}
		c.Streams[i] = fd
	}
	for _, fd := range c.Plan.Descriptors {
		if err := checkDeclared(c.Plan, fd); err != nil {
			return err
		}
	}
	return nil
}

// checkDeclared refuses a declared descriptor that this process did not inherit.
func checkDeclared(p *plan.Plan, fd int) error {
	if fd <= 2 || !inherited.Has(fd) {
		return plan.Refuse(plan.CodeDeclaration, "start ethos-sandbox with it open, as in ethos-sandbox run --fd 3 -- COMMAND 3<FILE", "descriptor %d was not inherited, or is not above 2", fd)
	}
	return checkStream(p, fd, fd)
}

// Steps put the command's streams in place and make its execve close every other
// descriptor: close_range(2), Linux 5.11. The sources are above 2, so that none is
// overwritten before it is used.
func (c *stdio) Steps(at Phase, p *Program) {
	if at != Streams {
		return
	}
	p.Pass = append(append(p.Pass, c.Streams[:]...), c.Plan.Descriptors...)
	for i, fd := range c.Streams {
		if again := c.machine.device(fd).steps(i, &p.Slots, steps.Str); again != nil {
			p.Command = append(p.Command, again...)
		} else if fd != i {
			p.Command = append(p.Command, step("descriptors", "dup3", unix.SYS_DUP3, strconv.Itoa(i), steps.Int(fd), steps.Int(i), steps.Int(0)))
		}
	}
	from := 3
	for _, kept := range c.Plan.Descriptors { // they are in place, and nothing else uses those numbers
		p.Command = append(p.Command, c.machine.device(kept).steps(kept, &p.Slots, steps.Str)...)
		if from < kept {
			p.Command = append(p.Command, closeRange(from, uint32(kept-1)))
		}
		from = kept + 1
	}
	p.Command = append(p.Command, closeRange(from, 1<<32-1))
}

func closeRange(from int, to uint32) steps.Step {
	return step("descriptors", "close_range", unix.SYS_CLOSE_RANGE, "", steps.Int(from), steps.Int(to), steps.Int(unix.CLOSE_RANGE_CLOEXEC))
}

func (c *stdio) Close() {
	for _, f := range c.opened {
		f.Close()
	}
}

// CheckStreams refuses files that must not be a stream of a command: see [stdio].
func CheckStreams(p *plan.Plan, c Command) error {
	for i, f := range c.Streams {
		if f == nil {
			continue
		}
		if err := checkStream(p, int(f.Fd()), i); err != nil {
			return plan.AsSetup(err)
		}
		if c.Narrow.NoNetwork {
			if err := checkNetworkless(int(f.Fd())); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStream refuses files that must not be a standard descriptor. Such a file was opened
// on the host's mounts, and can be opened again through /proc/self/fd. Outside the path
// table, Landlock denies that. Within a writable tree it does not, so a directory would
// bypass the protecting mounts, and so would a protected file that was opened for reading.
// A command that may mount has no Landlock rules on files, so it may get no file that has a
// name. Messages call the descriptor by the number that the command has for it, as.
func checkStream(p *plan.Plan, fd, as int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("descriptor %d: fstat: %w", as, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return plan.Refuse(plan.CodeDeclaration, "declare the directory with --ro or --rw instead", "descriptor %d of the command is a directory", as)
	case unix.S_IFREG, unix.S_IFBLK:
		if p.NestedUserns == capability.NestedMounts && st.Nlink > 0 {
			return plan.Refuse(plan.CodeDeclaration, throughPipe, "descriptor %d of the command is a file, and with --allow-nested-userns=mounts it could be reopened with all rights of the caller", as)
		}
	case unix.S_IFIFO:
		if p.NestedUserns == capability.NestedMounts && !isPipe(fd) {
			return plan.Refuse(plan.CodeDeclaration, throughPipe, "descriptor %d of the command is a named FIFO, and with --allow-nested-userns=mounts its other end could be opened", as)
		}
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		return checkFile(p, fd)
	}
	return nil
}

// isPipe reports whether a descriptor is an unnamed pipe of pipe(2).
func isPipe(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && st.Type == unix.PIPEFS_MAGIC
}

const throughPipe = "use a pipe: cat FILE | ethos-sandbox … | cat > FILE"

func checkFile(p *plan.Plan, fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDONLY {
		return err
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", fd, err)
	}
	around := func(e plan.Entry) bool { return e.Access == plan.ReadWrite && mount.Within(path, e.Path) }
	if at := plan.Covering(p.Paths, path); at.Access == plan.ReadWrite || !slices.ContainsFunc(p.Paths, around) {
		return nil
	}
	return plan.Refuse(plan.CodeDeclaration, "use a pipe: cat FILE | ethos-sandbox …", "descriptor %d of the command, %s, is protected, and could be reopened for writing", fd, path)
}
