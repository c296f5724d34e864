package seccomp

import "syscall"

// Narrowing returns the profile of what one command of a session is denied in
// addition to the session's own filters. With noNetwork it can create only Unix
// and netlink sockets. With noMetadata it cannot change the mode, owner, times
// or attributes of any file, which landlock(7) does not restrict, and it can
// make only those ioctl(2) requests that are known not to change them. io_uring
// would do both without a call, and is denied by [DenyPrivilege]. A file that
// was opened before stays open, and write(2) changes its modification time.
func Narrowing(noNetwork, noMetadata bool) Profile {
	p := Profile{Name: "narrowing", Default: Allow}
	if noNetwork {
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket", "socketpair"}, When: noneOf(0, afUnix, afNetlink), Action: Errno(eAFNOSUPPORT), Why: "the command has no network"})
	}
	if noMetadata {
		p.Rules = append(p.Rules, Rule{Calls: []string{
			"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat",
			"setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
		}, Action: Errno(ePERM), Why: "Landlock does not restrict it"})
		const why = "file systems change files by requests of their own"
		refuse := func(when ...Cond) {
			p.Rules = append(p.Rules, Rule{Calls: []string{"ioctl"}, When: when, Action: Errno(eNOTTY), Why: why})
		}
		between := func(above, below uint64) []Cond {
			return []Cond{{Arg: 1, Op: GreaterEqual, Value: above}, {Arg: 1, Op: Less, Value: below}}
		}
		refuse(Cond{Arg: 1, Op: Less, Value: terminals})
		refuse(between(terminals+0x100, sockets)...)
		refuse(append(noneOf(1, harmless[:]...), Cond{Arg: 1, Op: GreaterEqual, Value: sockets + 0x100})...)
	}
	return p
}

// Requests of ioctl(2): the start of the ranges of 256 requests for terminals
// and for sockets, which do not concern files, and further requests that change
// only what may be written. Source: asm-generic/ioctls.h, linux/sockios.h,
// linux/fs.h, linux/fiemap.h. The first range also has the requests that every
// descriptor knows: FIONREAD, FIONBIO, FIOCLEX. In the others, TIOCGPTN and
// TIOCSPTLCK are what openpty(3) needs, and FICLONE and FICLONERANGE need a
// descriptor that is open for writing.
const (
	terminals               = 0x5400
	sockets                 = 0x8900
	eNOTTY    syscall.Errno = 25
)

var harmless = [...]uint64{
	0x80045430, 0x40045431, 0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d, // TIOCGPTN TIOCSPTLCK TCGETS2 TCSETS2 TCSETSW2 TCSETSF2
	0x80086601, 0xc020660b, 0x40049409, 0x4020940d, // FS_IOC_GETFLAGS FS_IOC_FIEMAP FICLONE FICLONERANGE
}
