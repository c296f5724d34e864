package control

import (
	"fmt"
	"os"
	accounts "os/user"
	"path/filepath"
	"slices"
	"syscall"
)

// rootless returns a hint if root works in somebody else's directory that it cannot write
// once it is confined, else "".
func (j *Job) rootless(dir string) string {
	if os.Geteuid() != 0 {
		return ""
	}
	stat := statOf(dir)
	groups, err := os.Getgroups()
	if stat == nil || err != nil || j.Plan.Owner != nil && stat.Uid == j.Plan.Owner.UID {
		return ""
	}
	shared := stat.Mode&0o002 != 0 || stat.Mode&0o020 != 0 && slices.Contains(append(groups, os.Getegid()), int(stat.Gid))
	if shared {
		return ""
	}
	return foreignHint(dir, 0)
}

// foreignHint returns a hint if a path lies in somebody else's directory, else "". The user
// namespace maps the caller and, if root may, the owner of the work space ([plan.Owner]).
// Root outside has no capabilities over files of an owner that is not mapped:
// user_namespaces(7).
func foreignHint(path string, caller int) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	stat := statOf(path)
	for ; (stat == nil || stat.Mode&syscall.S_IFMT != syscall.S_IFDIR) && path != "/"; stat = statOf(path) {
		path = filepath.Dir(path)
	}
	if stat == nil || int(stat.Uid) == caller || stat.Uid == 0 {
		return ""
	}
	owner, user := fmt.Sprintf("user %d", stat.Uid), fmt.Sprintf("'#%d'", stat.Uid)
	if u, err := accounts.LookupId(fmt.Sprint(stat.Uid)); err == nil {
		owner, user = u.Username, u.Username
	}
	if caller != 0 {
		return fmt.Sprintf("%s belongs to %s: work in a directory of your own", path, owner)
	}
	return fmt.Sprintf("%s belongs to %s, whose files root cannot change inside: run it as the owner (sudo -u %s …), or in a directory that root owns", path, owner, user)
}

func statOf(path string) *syscall.Stat_t {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	return stat
}
