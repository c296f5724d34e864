package mount

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// bareProc replaces proc(5) if the kernel refuses to mount it because parts of
// the surrounding /proc are covered: mount_too_revealing in fs/namespace.c. It
// uses the first way that works: a proc(5) that shows only processes
// (subset=pid, Linux 5.8), which some kernels exempt from that rule; else the
// given files, on the root's tmpfs, which becomes read-only at the end. If the
// first way fails, there is a note about the target. The kernel's rule keeps an
// unprivileged user from seeing, in a new mount, what somebody has covered in
// the old one. EPERM is its refusal; EINVAL is a kernel that does not know the
// option.
func (b *builder) bareProc(m *Mount, files []File) {
	done, tree := b.slots.New(), b.slots.New()
	try := into(step("mount", unix.SYS_MOUNT, m.Target, steps.Str("proc"), steps.Str(inRoot(m.Target)), steps.Str("proc"),
		steps.Int(procFlags), steps.Str("subset=pid")), done)
	try.Tolerate = []syscall.Errno{syscall.EPERM, syscall.EINVAL}
	b.add(try)
	made := map[string]bool{".": true}
	for _, f := range files {
		for _, s := range b.copyOf(m, f, made) {
			s.Unless = done
			b.add(s)
		}
	}
	b.add(into(openat2(atCwd(), inRoot(m.Target), m.Target, true), tree))
	b.Trees[m.Target] = tree
}

// copyOf writes one file and creates the missing directories above it. O_EXCL:
// nothing is there before, and the command is not running yet, so a name that
// exists is an error of the plan.
func (b *builder) copyOf(m *Mount, f File, made map[string]bool) (list []steps.Step) {
	var dirs []string
	for dir := filepath.Dir(f.Name); !made[dir]; dir = filepath.Dir(dir) {
		dirs, made[dir] = append(dirs, dir), true
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		list = append(list, mkdir(inRoot(filepath.Join(m.Target, dirs[i])), 0o555, m.Target))
	}
	path, fd := filepath.Join(m.Target, f.Name), b.slots.New()
	list = append(list, into(step("openat", unix.SYS_OPENAT, path, atCwd(), steps.Str(inRoot(path)), steps.Int(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC), steps.Int(0o444)), fd))
	if len(f.Text) > 0 {
		write := step("write", unix.SYS_WRITE, path, steps.From(fd), steps.Buf(f.Text), steps.Int(len(f.Text)))
		write.Want = int32(len(f.Text))
		list = append(list, write)
	}
	return append(list, step("close", unix.SYS_CLOSE, path, steps.From(fd)))
}
