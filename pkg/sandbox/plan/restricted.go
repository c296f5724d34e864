package plan

import (
	"strconv"
	"strings"
)

// Restricted looks for a machine setting that keeps ordinary users from making user
// namespaces. It returns the setting and a hint, or "" and "" if there is none. read reads
// a whole file of proc(5).
func Restricted(read func(path string) ([]byte, error)) (setting, hint string) {
	value := func(path string) string {
		text, err := read(path)
		if err != nil {
			return ""
		}
		return strings.TrimRight(strings.TrimSpace(string(text)), "\x00")
	}
	if value("/proc/sys/kernel/unprivileged_userns_clone") == "0" { // in Debian's kernels
		return "kernel.unprivileged_userns_clone=0", "as root: sysctl kernel.unprivileged_userns_clone=1"
	}
	if n, err := strconv.Atoi(value("/proc/sys/user/max_user_namespaces")); err == nil && n == 0 {
		return "user.max_user_namespaces=0", "as root: sysctl user.max_user_namespaces=15000; or leave the container around this process"
	}
	if value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != "1" || strings.HasPrefix(value("/proc/self/attr/current"), profileName+" ") {
		return "", ""
	}
	return "kernel.apparmor_restrict_unprivileged_userns=1", "AppArmor restricts user namespaces on this machine; install the profile that comes with ethos, " +
		"packaging/apparmor/ethos-sandbox, as /etc/apparmor.d/ethos-sandbox with the path of this program in it, and load it: apparmor_parser -r /etc/apparmor.d/ethos-sandbox"
}

// profileName is the AppArmor profile that lifts the restriction for this program.
// /proc/PID/attr/current is "NAME (MODE)", apparmor(7).
const profileName = "ethos-sandbox"
