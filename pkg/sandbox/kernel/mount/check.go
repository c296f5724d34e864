package mount

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// entry is one line of /proc/PID/mountinfo: proc_pid_mountinfo(5). The options
// are those of the mount (field 6), not those of the superblock behind the
// dash: a bind of a writable file system is read-only by the former alone.
type entry struct {
	id, parent string
	target     string
	options    []string
	tags       []string // propagation
	fstype     string
}

// Check compares the mount table of a process, the text of its
// /proc/PID/mountinfo, with the planned mounts. The error names the first
// difference. The table says what the kernel did, whatever the calls that made
// the mounts returned: it finds a mount that is missing, one too many, another
// type, a flag that is not set, and one that is not private. It must be called
// before the command runs. The table must be that of the process itself: mount
// points are shown relative to its root, and mounts that it cannot reach are
// missing.
func Check(mounts []Mount, mountinfo string) error {
	table, err := parse(mountinfo)
	if err != nil {
		return err
	}
	return check(mounts, table)
}

// CheckForeign is [Check] for mounts that another program made. There may be
// more, those in optional; and they may receive what is mounted on the host,
// mount_namespaces(7). It reports whether one does. The propagation is in one
// direction only: a shared mount is refused as in Check, because the host would
// receive what is mounted inside.
func CheckForeign(mounts, optional []Mount, mountinfo string) (receives bool, err error) {
	table, err := parse(mountinfo)
	if err != nil {
		return false, err
	}
	for i := range table {
		table[i].tags = slices.DeleteFunc(table[i].tags, func(tag string) bool {
			slave := strings.HasPrefix(tag, "master:") || strings.HasPrefix(tag, "propagate_from:")
			receives = receives || slave
			return slave
		})
	}
	top := topmost(table)
	for _, m := range optional {
		if top[m.Target] != nil {
			mounts = append(slices.Clip(mounts), m)
		}
	}
	return receives, check(mounts, table)
}

func check(mounts []Mount, table []entry) error {
	top := topmost(table)
	if err := checkRoot(top["/"]); err != nil {
		return err
	}
	planned := make(map[string]*Mount, len(mounts))
	for i := range mounts {
		m := &mounts[i]
		if m.Kind == Symlink {
			continue
		}
		if err := checkMount(m, planned, top[m.Target]); err != nil {
			return err
		}
		planned[m.Target] = m
	}
	for i := range table {
		if err := checkEntry(&table[i], planned); err != nil {
			return err
		}
	}
	return nil
}

// topmost maps each mount point to the visible mount: of several, the one on
// which none is mounted. A mount that covers another one at the same place has
// that one as its parent.
func topmost(table []entry) map[string]*entry {
	covered := make(map[[2]string]bool, len(table))
	for i := range table {
		covered[[2]string{table[i].parent, table[i].target}] = true
	}
	top := make(map[string]*entry, len(table))
	for i := range table {
		if e := &table[i]; !covered[[2]string{e.id, e.target}] {
			top[e.target] = e
		}
	}
	return top
}

// over returns the planned mount that contains a path, or nil if that is the
// root.
func over(planned map[string]*Mount, path string) *Mount {
	for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
		if m := planned[at]; m != nil {
			return m
		}
	}
	return nil
}

// parse reads the lines of a table:
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
//
// Between the options and the dash are any number of tags that say how the
// mount propagates; a private mount has none.
func parse(text string) ([]entry, error) {
	var table []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Split(left, " "), strings.Split(right, " ") // a path may contain other white space
		if !ok || len(l) < 6 || len(r) < 1 {
			return nil, fmt.Errorf("mount table: line %q is not of proc_pid_mountinfo(5)", line)
		}
		table = append(table, entry{id: l[0], parent: l[1], target: unescape(l[4]), options: strings.Split(l[5], ","), tags: l[6:], fstype: r[0]})
	}
	return table, nil
}

// unescape decodes the octal escapes of seq_path in fs/seq_file.c: space, tab,
// newline, backslash. Without them, a name with a newline could look like a
// line of the table.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// require checks that the mount has the options. "ro" and "rw" stand first and
// exclude each other, so one that is required also says that the other is not
// set.
func (e *entry) require(options ...string) error {
	for _, o := range options {
		if !slices.Contains(e.options, o) {
			return fmt.Errorf("mount table: %s is %s, not %s", e.target, strings.Join(e.options, ","), o)
		}
	}
	return nil
}

// checkRoot checks that the root is the tmpfs that pivot_root(2) put there, and
// read-only: the command must not create a name beside the mounts.
func checkRoot(root *entry) error {
	if root == nil || root.fstype != "tmpfs" {
		return fmt.Errorf("mount table: the root is not the tmpfs that was made")
	}
	return root.require("ro", "nosuid", "nodev")
}

// checkMount compares one planned mount with what is visible at its place.
func checkMount(m *Mount, before map[string]*Mount, e *entry) error {
	if m.Kind == Private && !m.Writable && onTmpfs(over(before, filepath.Dir(m.Target))) {
		return nil // a directory of the root's tmpfs, not a mount
	}
	if e == nil {
		return fmt.Errorf("mount table: nothing is mounted at %s", m.Target)
	}
	if want := m.fstype(); want != "" && e.fstype != want {
		return fmt.Errorf("mount table: %s is of type %s, not %s", m.Target, e.fstype, want)
	}
	return e.require(m.options()...)
}

// onTmpfs reports whether a directory below a mount is one of the tmpfs that
// the start machine made; nil is the root.
func onTmpfs(over *Mount) bool {
	return over == nil || over.Kind == Private || over.Kind == MaskOpen
}

// fstype is the type that the table must show, or "" for a bind, which shows
// that of the host.
func (m *Mount) fstype() string {
	switch m.Kind {
	case Bind, Closed:
		return ""
	case Mask:
		if m.Source != "" {
			return ""
		}
	case Proc, Devpts, Overlay:
		return string(m.Kind)
	}
	return "tmpfs"
}

// options are those that the table must show. nosuid keeps set-user-ID bits and
// file capabilities without effect, nodev device nodes: mount(8).
func (m *Mount) options() []string {
	options := []string{"nosuid"}
	if !m.Device && m.Kind != Devpts {
		options = append(options, "nodev")
	}
	if m.NoExec || m.Kind == Proc || m.Kind == Devpts {
		options = append(options, "noexec")
	}
	if m.Writable || m.Kind == Devpts {
		return append(options, "rw")
	}
	return append(options, "ro")
}

// checkEntry refuses a mount that was not planned. Mounts that the host has
// inside a bind come with it, and must have its restrictions.
func checkEntry(e *entry, planned map[string]*Mount) error {
	if len(e.tags) > 0 {
		return fmt.Errorf("mount table: %s is not private: %s", e.target, strings.Join(e.tags, " "))
	}
	if e.target == "/" {
		return nil
	}
	over := over(planned, e.target)
	switch {
	case over == nil:
		return fmt.Errorf("mount table: %s is mounted and not in the plan", e.target)
	case over.Target == e.target:
		return nil
	case over.Kind != Bind:
		return fmt.Errorf("mount table: %s is mounted on %s and not in the plan", e.target, over.Target)
	}
	options := []string{"nosuid", "nodev"}
	if over.NoExec {
		options = append(options, "noexec")
	}
	if !over.Writable {
		options = append(options, "ro")
	}
	return e.require(options...)
}
