package landlock

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// NetPort is the type of a rule on a port: LANDLOCK_RULE_NET_PORT.
const NetPort = ll.RuleTypeNetPort

// PathAttr is struct landlock_path_beneath_attr, which is packed: 8 bytes of
// rights, then the descriptor. Splitting the rights into two halves gives the
// kernel's size of 12 bytes and its 4-byte alignment on the supported
// little-endian architectures.
type PathAttr struct {
	low, high uint32
	ParentFD  int32
}

// PortAttr is struct landlock_net_port_attr.
type PortAttr = ll.NetPortAttr

// Attr returns the rule in the kernel's form for a descriptor of its path,
// opened with O_PATH.
func (p PathRule) Attr(fd int32) *PathAttr {
	return &PathAttr{uint32(p.Access), uint32(p.Access >> 32), fd}
}

// Attr returns the rule in the kernel's form.
func (p PortRule) Attr() *PortAttr {
	return &PortAttr{AllowedAccess: uint64(p.Access), Port: uint64(p.Port)}
}

// Create creates the ruleset in this process, with this process's view of the
// paths, and returns its descriptor, which is close-on-exec. If a path cannot
// be opened, the error names it.
//
// The ruleset restricts nobody until landlock_restrict_self(2), which the
// caller must make itself. It needs no_new_privs or CAP_SYS_ADMIN in the
// caller's user namespace (EPERM), restricts the calling thread only, and fails
// with E2BIG if the thread has the maximum number of rulesets already. On an
// error nothing stays open.
func (r Ruleset) Create() (fd int, err error) {
	attr := r.Attr
	if fd, err = ll.LandlockCreateRuleset(&attr, 0); err != nil {
		return -1, fmt.Errorf("landlock: create ruleset: %w", err)
	}
	for _, p := range r.Paths {
		if err := p.add(fd); err != nil {
			return -1, errors.Join(err, unix.Close(fd))
		}
	}
	for _, p := range r.Ports {
		if err := ll.LandlockAddNetPortRule(fd, p.Attr(), 0); err != nil {
			return -1, errors.Join(fmt.Errorf("landlock: add rule for port %d: %w", p.Port, err), unix.Close(fd))
		}
	}
	return fd, nil
}

// landlock_add_rule(2) answers EINVAL if the rule has a right that the ruleset
// does not handle or that cannot apply to a file, ENOMSG if it has none, and
// EBADFD if the descriptor is that of a ruleset or of a file system of the
// kernel's own. [Build] excludes the first two.
func (p PathRule) add(ruleset int) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, p.Path, p.how())
	if err != nil {
		return fmt.Errorf("landlock: open %s for a rule: %w", p.Path, err)
	}
	err = ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: uint64(p.Access), ParentFd: fd}, 0)
	if err != nil {
		err = fmt.Errorf("landlock: add rule for %s: %w", p.Path, err)
	}
	return errors.Join(err, unix.Close(fd))
}

// how returns the flags that open the path itself. A symbolic link anywhere in
// it is an error, and so is anything but a directory unless File is set. A rule
// belongs to the inode that was opened, not to the path. If a link were
// followed, whoever can write to a directory on the way could choose which file
// the rule is for. The errno is ELOOP for a link and ENOTDIR for what is not a
// directory: openat2(2).
func (p PathRule) how() *unix.OpenHow {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if !p.File {
		how.Flags |= unix.O_DIRECTORY
	}
	return how
}
