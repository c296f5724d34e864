package seccomp

// Narrowing is what one command of a session is refused on top of the session's
// own filters. With noNetwork it makes no socket but Unix ones and netlink's; with
// noMetadata it changes no mode, owner, time or attribute of a file, which
// landlock(7) does not hold, wherever the file is.
func Narrowing(noNetwork, noMetadata bool) Profile {
	p := Profile{Name: "narrowing", Default: Allow}
	if noNetwork {
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket", "socketpair"}, When: noneOf(0, afUnix, afNetlink), Action: Errno(eAFNOSUPPORT), Why: "the command has no network"})
	}
	if noMetadata {
		p.Rules = append(p.Rules, Rule{Calls: []string{
			"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
			"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
		}, Action: Errno(ePERM), Why: "Landlock does not hold it"})
		for _, request := range []uint64{fsSetFlags, fsSetXattr, fsSetVersion} {
			p.Rules = append(p.Rules, Rule{Calls: []string{"ioctl"}, When: []Cond{{Arg: 1, Op: Equal, Value: request}}, Action: Errno(ePERM), Why: "Landlock does not hold it"})
		}
	}
	return p
}

// Requests of ioctl(2) on files, and an errno. Source: linux/fs.h, asm-generic/errno.h.
const (
	fsSetFlags   = 0x40086602 // FS_IOC_SETFLAGS
	fsSetXattr   = 0x401c5820 // FS_IOC_FSSETXATTR
	fsSetVersion = 0x40087602 // FS_IOC_SETVERSION
)
