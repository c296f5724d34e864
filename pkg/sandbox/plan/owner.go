package plan

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/statedir"
)

// Owner is the user who owns a work space in which root works. The user namespace maps the
// owner in addition to root, and the command has [OwnerCapabilities] in it. They apply only
// to files whose owner and group are both among root's and these (capable_wrt_inode_uidgid
// in kernel/capability.c). The command can thus treat the files of the work space as root
// does outside: what it creates belongs to root, and git sees an owner other than its
// caller, as outside.
type Owner struct {
	UID  uint32   `json:"uid"`
	GIDs []uint32 `json:"gids"` // in addition to the caller's own, sorted
}

// The capabilities of capabilities(7) that an [Owner] needs, and those that creating its
// user namespace needs. linux/capability.h.
const (
	capChown       = 1 << 0
	capDACOverride = 1 << 1
	capFowner      = 1 << 3
	capSetGID      = 1 << 6
	capSetUID      = 1 << 7
	capSetFCap     = 1 << 31 // to map root: user_namespaces(7)

	// OwnerCapabilities are the command's capabilities in its user namespace.
	OwnerCapabilities = capChown | capDACOverride | capFowner
	ownerNeeds        = OwnerCapabilities | capSetGID | capSetUID | capSetFCap
)

// findOwner finds out whether root works in somebody else's work space and has outside the
// rights that the command is to have inside. If it does not have them, the plan is made
// without an owner.
func (b *builder) findOwner() {
	info, err := b.files.lstat(b.spec.Workspace)
	if b.uid != 0 || err != nil || info == nil || ownerOf(info) == 0 || b.flat() || b.spec.Backend == Bwrap {
		return
	}
	o := &Owner{UID: ownerOf(info)}
	for dir := b.spec.Workspace; dir != "/"; dir = filepath.Dir(dir) { // the directories above may be accessible to the owner only
		if info, err := b.files.lstat(dir); err == nil && info != nil && ownerOf(info) == o.UID && groupOf(info) != b.gid() && !slices.Contains(o.GIDs, groupOf(info)) {
			o.GIDs = append(o.GIDs, groupOf(info))
		}
	}
	slices.Sort(o.GIDs)
	if b.privileged() && b.known("uid_map", []uint32{o.UID}) && b.known("gid_map", o.GIDs) {
		b.owner = o
	}
}

// gid returns the caller's effective group ID.
func (b *builder) gid() uint32 {
	ids := strings.Fields(b.ownStatus("Gid"))
	if len(ids) < 2 {
		return 0
	}
	id, _ := strconv.ParseUint(ids[1], 10, 32)
	return uint32(id)
}

// privileged reports whether this process has, outside, the capabilities over the owner's
// files that the command is to have inside, and may create the namespace.
func (b *builder) privileged() bool {
	set, err := strconv.ParseUint(b.ownStatus("CapEff"), 16, 64)
	return err == nil && set&ownerNeeds == ownerNeeds
}

// ownStatus returns a field of proc_pid_status(5) for this thread. Other threads, which
// judge for a command, may have dropped privileges that the process has.
func (b *builder) ownStatus(name string) string {
	text, err := b.files.files.ReadFile("/proc/thread-self/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// known reports whether this process's user namespace maps all the ids. An id that it does
// not map appears as the overflow id and cannot be mapped any further.
func (b *builder) known(file string, ids []uint32) bool {
	text, err := b.files.files.ReadFile("/proc/self/" + file)
	if err != nil {
		return false
	}
	has := func(id uint32) bool {
		for line := range strings.Lines(string(text)) {
			var n [3]uint64
			for i, field := range strings.Fields(line) {
				if i < len(n) {
					n[i], _ = strconv.ParseUint(field, 10, 64)
				}
			}
			if uint64(id) >= n[0] && uint64(id)-n[0] < n[2] {
				return true
			}
		}
		return false
	}
	return !slices.ContainsFunc(ids, func(id uint32) bool { return !has(id) })
}

// mine reports whether the command has the owner's rights over a file.
func (b *builder) mine(info fs.FileInfo) bool {
	uid := ownerOf(info)
	return uid == b.uid || b.owner != nil && uid == b.owner.UID && (groupOf(info) == b.gid() || slices.Contains(b.owner.GIDs, groupOf(info)))
}

// noHome stands for the home of a caller who has none.
const noHome = "/tmp"

// homeDir returns the caller's HOME, or [noHome] if HOME is unset, relative or "/".
func (b *builder) homeDir() string {
	home := b.getenv("HOME")
	if !strings.HasPrefix(home, "/") || strings.Trim(home, "/") == "" {
		return noHome
	}
	return filepath.Clean(home)
}

// homes returns the home directories whose credentials stay hidden and that no command may
// write as a whole: the caller's and the [Owner]'s from passwd(5), without links.
func (b *builder) homes() []string {
	list := []string{b.home}
	if b.owner == nil {
		return list
	}
	for _, home := range b.passwdHomes(b.owner.UID) {
		if p, err := b.files.resolve(home); err == nil && p.dir && p.path != "/" && !slices.Contains(list, p.path) {
			list = append(list, p.path)
		}
	}
	return list
}

// whose returns " of USER" for a home directory that is not the caller's, else "".
func (b *builder) whose(home string) string {
	if home == b.home {
		return ""
	}
	return " of " + b.owner.String()
}

// rootsState refuses to work for root in somebody else's work space if others can replace
// the contents of root's state folder. root's HOME may be the owner's, and the folder
// records what root trusts and holds the files that hide paths.
func (b *builder) rootsState() error {
	if b.owner == nil {
		return nil
	}
	dir, err := statedir.Dir(b.getenv)
	if err != nil {
		return Refuse(CodeSetup, "set HOME, or XDG_STATE_HOME", "%w", err)
	}
	err = b.rootsAlone(dir)
	if err == nil {
		return nil
	}
	hint := "set XDG_STATE_HOME to a directory that belongs to root, as do all above it"
	for _, home := range b.passwdHomes(b.uid) {
		if dir := statedir.Of(home); b.rootsAlone(dir) == nil {
			hint = "set XDG_STATE_HOME=" + filepath.Dir(dir)
			break
		}
	}
	return &Refusal{Code: CodeSetup, Err: fmt.Errorf("the state folder %s must belong to root alone: %w", dir, err), Hint: hint}
}

// rootsAlone returns an error if anybody except root can change where a path leads. Each
// directory on the way and each link that is followed must belong to root. In a sticky
// directory, existing files of root are safe.
func (b *builder) rootsAlone(path string) error {
	p, err := b.files.resolve(path)
	if err != nil {
		return err
	}
	for _, end := range append(slices.Clone(p.links), p.path) {
		for at, missing := end, false; ; at = filepath.Dir(at) {
			info, err := b.files.lstat(at)
			switch {
			case err != nil:
				return err
			case info == nil:
				missing = true
			case ownerOf(info) != 0:
				return fmt.Errorf("%s belongs to user %d", at, ownerOf(info))
			case info.IsDir() && info.Mode().Perm()&0o022 != 0 && (info.Mode()&fs.ModeSticky == 0 || missing):
				return fmt.Errorf("others can write to %s", at)
			default:
				missing = false
			}
			if at == "/" {
				break
			}
		}
	}
	return nil
}

// String names the user for the evidence; "" if o is nil.
func (o *Owner) String() string {
	if o == nil {
		return ""
	}
	return "user " + strconv.FormatUint(uint64(o.UID), 10)
}
