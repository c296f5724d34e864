package landlock

import (
	"math/bits"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// FS is a set of rights on files: LANDLOCK_ACCESS_FS_* of linux/landlock.h.
type FS uint64

// The rights on files, with the ABI that introduced them. [Refer] is the only
// one that every ruleset denies, also a ruleset that does not handle it. Both
// directories need it. A file that would gain rights in its new directory is
// refused with EXDEV, on which mv(1) copies: landlock(7).
const (
	Execute     FS = ll.AccessFSExecute     // ABI 1, Linux 5.13
	WriteFile   FS = ll.AccessFSWriteFile   // open for writing
	ReadFile    FS = ll.AccessFSReadFile    // open for reading
	ReadDir     FS = ll.AccessFSReadDir     // list, or open, a directory
	RemoveDir   FS = ll.AccessFSRemoveDir   // remove or rename a directory
	RemoveFile  FS = ll.AccessFSRemoveFile  // unlink or rename a file
	MakeChar    FS = ll.AccessFSMakeChar    // make a character device
	MakeDir     FS = ll.AccessFSMakeDir     // make a directory
	MakeReg     FS = ll.AccessFSMakeReg     // make a file
	MakeSock    FS = ll.AccessFSMakeSock    // bind a Unix socket
	MakeFifo    FS = ll.AccessFSMakeFifo    // make a named pipe
	MakeBlock   FS = ll.AccessFSMakeBlock   // make a block device
	MakeSym     FS = ll.AccessFSMakeSym     // make a symbolic link
	Refer       FS = ll.AccessFSRefer       // ABI 2, Linux 5.19: link or rename to another directory, which ABI 1 always denies
	Truncate    FS = ll.AccessFSTruncate    // ABI 3, Linux 6.2
	IoctlDev    FS = ll.AccessFSIoctlDev    // ABI 5, Linux 6.10: ioctl(2) on a device opened under the ruleset
	ResolveUnix FS = ll.AccessFSResolveUnix // ABI 9: connect to a pathname Unix socket that was created outside
)

// Sets of rights for tables of paths.
const (
	Read  = ReadFile | ReadDir
	Write = WriteFile | Truncate | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer
	// AllFS are all rights on files. For a confined process, all of them
	// are handled.
	AllFS = Execute | Read | Write | MakeChar | MakeBlock | IoctlDev | ResolveUnix
	// fileRights are the rights that apply to files other than directories:
	// ACCESS_FILE in security/landlock/fs.c.
	fileRights = Execute | WriteFile | ReadFile | Truncate | IoctlDev | ResolveUnix
)

// Net is a set of rights on ports: LANDLOCK_ACCESS_NET_*.
type Net uint64

// The rights on ports.
const (
	BindTCP    Net = ll.AccessNetBindTCP        // ABI 4, Linux 6.7
	ConnectTCP Net = ll.AccessNetConnectTCP     // ABI 4
	BindUDP    Net = ll.AccessNetBindUDP        // ABI 10
	SendUDP    Net = ll.AccessNetConnectSendUDP // ABI 10: connect or send a datagram to the port
)

// Scope is a set of operations that are confined to the restricted processes:
// LANDLOCK_SCOPE_*.
type Scope uint64

// The scopes.
const (
	AbstractUnix Scope = ll.ScopeAbstractUnixSocket // ABI 6, Linux 6.12: no connection to abstract Unix sockets created outside
	Signal       Scope = ll.ScopeSignal             // ABI 6: no signal to a process outside
)

// Log selects what the kernel writes to the audit log:
// LANDLOCK_RESTRICT_SELF_LOG_*, ABI 7, Linux 6.15. Without a flag, denials are
// logged until the next execve(2), that is, none for a command that is about to
// be executed.
type Log uint32

// The logging flags.
const (
	LogSameExecOff   Log = ll.FlagRestrictSelfLogSameExecOff
	LogNewExecOn     Log = ll.FlagRestrictSelfLogNewExecOn // log what is denied to the executed command
	LogSubdomainsOff Log = ll.FlagRestrictSelfLogSubdomainsOff
)

// NewestABI is the highest ABI known here. It is used for a kernel with a
// higher one.
const NewestABI = 11

// known is the set of rights that one ABI knows.
type known struct {
	fs    FS
	net   Net
	scope Scope
	log   Log
}

// rightsOf returns the rights that an ABI knows. Source: the table "Previous
// limitations" of the kernel document. A right that the kernel does not know
// makes landlock_create_ruleset(2) fail with EINVAL, for the ruleset as a
// whole. ABI 8 adds a flag of landlock_restrict_self(2) for all threads of a
// process, and no right. The version of the kernel says nothing reliable,
// because distributions backport Landlock: landlock(7), "VERSIONS".
func rightsOf(abi int) (k known) {
	if abi >= 1 {
		k.fs = AllFS &^ (Refer | Truncate | IoctlDev | ResolveUnix)
	}
	if abi >= 2 {
		k.fs |= Refer
	}
	if abi >= 3 {
		k.fs |= Truncate
	}
	if abi >= 4 {
		k.net = BindTCP | ConnectTCP
	}
	if abi >= 5 {
		k.fs |= IoctlDev
	}
	if abi >= 6 {
		k.scope = AbstractUnix | Signal
	}
	if abi >= 7 {
		k.log = LogSameExecOff | LogNewExecOn | LogSubdomainsOff
	}
	if abi >= 9 {
		k.fs |= ResolveUnix
	}
	if abi >= 10 {
		k.net |= BindUDP | SendUDP
	}
	return k
}

var (
	fsNames = [...]string{
		"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_char", "make_dir", "make_reg",
		"make_sock", "make_fifo", "make_block", "make_sym", "refer", "truncate", "ioctl_dev", "resolve_unix",
	}
	netNames   = [...]string{"bind_tcp", "connect_tcp", "bind_udp", "connect_send_udp"}
	scopeNames = [...]string{"abstract_unix_socket", "signal"}
	logNames   = [...]string{"same_exec_off", "new_exec_on", "subdomains_off"}
)

// Names lists the rights as the kernel's header names them, in lower case:
// read_file, make_dir.
func (f FS) Names() []string { return names(uint64(f), "", fsNames[:]) }

// names lists the set bits by name. It ignores bits without a name, which no
// constant here has.
func names(set uint64, prefix string, table []string) []string {
	list := make([]string, 0, bits.OnesCount64(set))
	for i, name := range table {
		if set>>i&1 != 0 {
			list = append(list, prefix+name)
		}
	}
	return list
}
