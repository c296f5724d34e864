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

// Owner is the user in whose work space root works. The user namespace has it
// beside root, and the command has [OwnerCapabilities] there: over files whose
// owner and group are both among root's and these, and over no others
// (capable_wrt_inode_uidgid in kernel/capability.c). So it can do to the files of
// the work space what root does to them outside, what it makes is root's, and git
// sees an owner that is not its caller, as outside.
type Owner struct {
	UID  uint32   `json:"uid"`
	GIDs []uint32 `json:"gids"` // beside the caller's own, in order
}

// The capabilities of capabilities(7) that an [Owner] takes, and with which the
// namespace of one is made. linux/capability.h.
const (
	capChown       = 1 << 0
	capDACOverride = 1 << 1
	capFowner      = 1 << 3
	capSetGID      = 1 << 6
	capSetUID      = 1 << 7
	capSetFCap     = 1 << 31 // to map root: user_namespaces(7)

	// OwnerCapabilities are those of the command, in its user namespace.
	OwnerCapabilities = capChown | capDACOverride | capFowner
	ownerNeeds        = OwnerCapabilities | capSetGID | capSetUID | capSetFCap
)

// findOwner finds out whether root works in a work space of somebody else, and may
// do there what it is to do inside. Where it may not the plan is made without.
func (b *builder) findOwner() {
	info, err := b.files.lstat(b.spec.Workspace)
	if b.uid != 0 || err != nil || info == nil || ownerOf(info) == 0 || b.flat() {
		return
	}
	o := &Owner{UID: ownerOf(info)}
	for dir := b.spec.Workspace; dir != "/"; dir = filepath.Dir(dir) { // the way to it may be the owner's alone, too
		if info, err := b.files.lstat(dir); err == nil && info != nil && ownerOf(info) == o.UID && groupOf(info) != b.gid() && !slices.Contains(o.GIDs, groupOf(info)) {
			o.GIDs = append(o.GIDs, groupOf(info))
		}
	}
	slices.Sort(o.GIDs)
	if b.privileged() && b.known("uid_map", []uint32{o.UID}) && b.known("gid_map", o.GIDs) {
		b.owner = o
	}
}

// gid is the caller's effective group.
func (b *builder) gid() uint32 {
	ids := strings.Fields(b.ownStatus("Gid"))
	if len(ids) < 2 {
		return 0
	}
	id, _ := strconv.ParseUint(ids[1], 10, 32)
	return uint32(id)
}

// privileged reports whether this process could do to the owner's files, outside,
// what the command is to do inside, and may make the namespace.
func (b *builder) privileged() bool {
	set, err := strconv.ParseUint(b.ownStatus("CapEff"), 16, 64)
	return err == nil && set&ownerNeeds == ownerNeeds
}

// ownStatus is a field of proc_pid_status(5) of this thread: others, which judge for a
// command, may have given up what the process has.
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

// known reports whether this process's own user namespace has all the ids. An
// owner that it has not is shown as the overflow id, and is nobody that could be
// mapped.
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

// mine reports whether the command does to a file what its owner may.
func (b *builder) mine(info fs.FileInfo) bool {
	uid := ownerOf(info)
	return uid == b.uid || b.owner != nil && uid == b.owner.UID && (groupOf(info) == b.gid() || slices.Contains(b.owner.GIDs, groupOf(info)))
}

// homes are the home directories whose credentials stay hidden, and which no command
// writes as a whole: the caller's and, by passwd(5), the [Owner]'s, without links.
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

// whose says of a home directory that it is not the caller's.
func (b *builder) whose(home string) string {
	if home == b.home {
		return ""
	}
	return " of " + b.owner.String()
}

// rootsState refuses to work for root in somebody else's work space with a state
// folder in which others can put what they like in root's place: root's HOME may be
// the owner's, and the folder says what root trusts and has what hides paths.
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
	return &Refusal{Code: CodeSetup, Err: fmt.Errorf("the state folder %s is not root's alone: %w", dir, err), Hint: hint}
}

// rootsAlone reports who but root can change where a path leads: each directory on
// the way, and each link that is followed, has to be root's. In one where everybody
// makes files (the sticky bit) what is root's already stays.
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

// String names the ids for the evidence; "" of none.
func (o *Owner) String() string {
	if o == nil {
		return ""
	}
	return "user " + strconv.FormatUint(uint64(o.UID), 10)
}
