// Package bwrap writes a list of mounts as arguments of bubblewrap, bwrap(1),
// and finds the program.
//
// Begin with [Find], then [Arguments]. Package mount describes the mounts and
// compares the result with them.
//
// # Contract
//
// The order of the arguments is that of the mounts, parents before children,
// and what is read-only becomes so when everything in it is in place. Each file
// with a content comes from a descriptor. bubblewrap itself opens the sources
// of binds by their names, so the caller has to compare what it mounted.
//
// # Limits
//
// bubblewrap cannot express a mount that executes nothing, an overlay before
// 0.11, a link over a file, or a device that is read-only; [Arguments] refuses
// the first three.
package bwrap

import (
	"fmt"
	"slices"
	"strconv"

	"ethos/pkg/sandbox/kernel/mount"
)

// Options are the parameters that are no mounts.
type Options struct {
	Unshare      []string // as in --unshare-NAME
	Hostname     string   // "" leaves the host's
	ScratchBytes int64    // the size of all writable private directories together; 0 is the kernel's default for each
	NoSizes      bool     // it has the set-user-ID bit, and sets no sizes
}

// Content is a file that the arguments name by the number of a descriptor.
type Content struct {
	Text []byte
	At   int // the index of the argument that is the number
}

// standardDevices is what --dev makes. It also binds the terminal of standard
// output to /dev/console, if that is one. The caller starts bubblewrap with no
// terminal there, so that no such mount appears.
var standardDevices = []string{"/dev", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"}

// Additional returns the mounts that bwrap adds on its own for root: read-only
// parts of proc(5). It covers only those that exist and that access(2) calls
// writable (setup_newroot in bubblewrap.c), so they are there for root and not
// for others.
func Additional() (list []mount.Mount) {
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus"} {
		list = append(list, mount.Mount{Kind: mount.Closed, Target: "/proc/" + name})
	}
	return list
}

// Arguments returns the arguments for the mounts, which must be sorted as by
// [mount.Sort], without the program to run.
//
// The string at [Content.At] is empty: the caller opens a file for each content
// and puts the number of its descriptor there. bubblewrap reads it from its
// present offset and closes it. An error names a mount that bubblewrap cannot
// make.
func Arguments(mounts []mount.Mount, o Options) (args []string, contents []Content, err error) {
	// --as-pid-1: the program that is started inside stays until everything
	// there has ended, so the namespace needs no init of bubblewrap's.
	// --cap-drop ALL: bubblewrap leaves root its capabilities by default,
	// and nobody else.
	b := &builder{noSizes: o.NoSizes, args: []string{"--as-pid-1", "--cap-drop", "ALL"}}
	for _, name := range o.Unshare {
		b.add("--unshare-" + name)
	}
	if o.Hostname != "" {
		b.add("--hostname", o.Hostname)
	}
	private := int64(0)
	for _, m := range mounts {
		if m.Kind == mount.Private && m.Writable {
			private++
		}
	}
	// Each private directory is a file system of its own here, so that the
	// sum is bounded only if each has a part of it. An idle one's part is
	// lost to the others.
	b.size = o.ScratchBytes / max(1, private)
	for i := range mounts {
		if err := b.mount(&mounts[i], mounts[:i]); err != nil {
			return nil, nil, err
		}
	}
	// --remount-ro changes one mount and none below it. bubblewrap makes
	// mount points when it comes to them, so an earlier remount would make
	// that fail with EROFS.
	for _, target := range slices.Backward(b.closing) {
		b.add("--remount-ro", target)
	}
	b.add("--remount-ro", "/")
	return b.args, b.contents, nil
}

type builder struct {
	args     []string
	contents []Content
	size     int64 // of each writable private directory
	noSizes  bool
	closing  []string // become read-only at the end
}

func (b *builder) add(args ...string) { b.args = append(b.args, args...) }

// file mounts a file with a content, read-only. Without --perms it would have
// mode 0600: bwrap(1). The empty string is replaced by the number of the
// descriptor.
func (b *builder) file(target, mode string, text []byte) {
	b.add("--perms", mode, "--ro-bind-data", "", target)
	b.contents = append(b.contents, Content{Text: text, At: len(b.args) - 2})
}

// tmpfs mounts an empty directory. --perms and --size apply to the next
// operation alone. A bubblewrap with the set-user-ID bit refuses --size, so the
// kernel's default holds there: half of the memory, tmpfs(5).
func (b *builder) tmpfs(target string, mode uint32, size int64) {
	b.add("--perms", fmt.Sprintf("%04o", mode))
	if size > 0 && !b.noSizes {
		b.add("--size", strconv.FormatInt(size, 10))
	}
	b.add("--tmpfs", target)
}

// maskBytes is the size of a file system that only holds mount points.
const maskBytes = 64 << 10

// mount adds one mount. before are those that come before it.
func (b *builder) mount(m *mount.Mount, before []mount.Mount) error {
	// A device that --dev makes is skipped even if the plan binds it:
	// bubblewrap binds the same ones from the host.
	if slices.Contains(standardDevices, m.Target) {
		if m.Target == "/dev" {
			b.add("--dev", m.Target)
			b.closing = append(b.closing, m.Target)
		}
		return nil
	}
	mode := m.Mode
	switch {
	case m.NoExec:
		return fmt.Errorf("bubblewrap: %s: it has no mounts that execute nothing", m.Target)
	case m.Kind == mount.Bind && m.Device:
		b.add("--dev-bind", m.Source, m.Target)
	case m.Kind == mount.Bind && m.Writable:
		b.add("--bind", m.Source, m.Target)
	case m.Kind == mount.Bind:
		b.add("--ro-bind", m.Source, m.Target)
	case m.Kind == mount.Symlink:
		b.add("--symlink", m.Source, m.Target)
	case m.Kind == mount.Text:
		b.file(m.Target, "0444", []byte(m.Text))
	case m.Kind == mount.Proc:
		b.add("--proc", m.Target)
		b.closing = append(b.closing, m.Target)
	case m.Kind == mount.Mask && m.Source == "" && m.File:
		b.file(m.Target, "0000", nil)
	case m.Kind == mount.Mask && m.Source == "":
		b.tmpfs(m.Target, 0, maskBytes)
		b.closing = append(b.closing, m.Target)
	case m.Kind == mount.MaskOpen:
		if mode == 0 {
			mode = 0o111
		}
		b.tmpfs(m.Target, mode, maskBytes)
		b.closing = append(b.closing, m.Target)
	case m.Kind == mount.Private:
		b.private(m, before)
	default:
		return fmt.Errorf("bubblewrap: %s: it has no mounts of kind %s", m.Target, m.Kind)
	}
	return nil
}

// private makes a directory. One that is not writable is one of the root's file
// system, where nothing else is around it.
func (b *builder) private(m *mount.Mount, before []mount.Mount) {
	mode := m.Mode
	if mode == 0 {
		mode = 0o755
	}
	over := mount.Covering(before, m.Target)
	switch {
	case m.Writable:
		b.tmpfs(m.Target, mode, b.size)
	case over == nil || over.Kind == mount.Private || over.Kind == mount.MaskOpen:
		b.add("--perms", fmt.Sprintf("%04o", mode), "--dir", m.Target)
	default:
		b.tmpfs(m.Target, mode, maskBytes)
		b.closing = append(b.closing, m.Target)
	}
}
