package observe

// intent is how a call uses a path. access(2) with W_OK only reads: programs
// ask before they know whether they will write.
type intent int

const (
	reads   intent = iota
	changes        // changes the file or its directory
	byFlags        // depends on the flags of open(2), the argument after the path
)

// name is a path among the arguments of a call. The path is an address in the
// thread's memory. In a symbolic link the target is no path among these:
// nothing is looked up by it.
type name struct {
	dir, path int // argument indexes; dir is fromCwd if the path is relative to the working directory
	intent
}

const fromCwd = -1

// call is a system call that takes paths.
type call struct {
	call  string
	names []name
}

// calls are the observed calls: those that look up a path, with the arguments
// of syscalls(2). openat2(2) is missing, because the filter refuses it with
// ENOSYS and programs fall back to openat(2). Those that an architecture lacks
// are left out of its filter: arm64 has openat(2) and no open(2).
//
// Each observed call costs two context switches, so those that look up a path
// and are rare are not observed: statfs(2), inotify_add_watch(2), xattr(7),
// utime(2), utimes(2), futimesat(2).
var calls = []call{
	{"open", []name{{fromCwd, 0, byFlags}}}, {"openat", []name{{0, 1, byFlags}}}, {"creat", []name{{fromCwd, 0, changes}}},
	{"stat", []name{{fromCwd, 0, reads}}}, {"lstat", []name{{fromCwd, 0, reads}}}, {"newfstatat", []name{{0, 1, reads}}}, {"statx", []name{{0, 1, reads}}},
	{"access", []name{{fromCwd, 0, reads}}}, {"faccessat", []name{{0, 1, reads}}}, {"faccessat2", []name{{0, 1, reads}}},
	{"readlink", []name{{fromCwd, 0, reads}}}, {"readlinkat", []name{{0, 1, reads}}}, {"chdir", []name{{fromCwd, 0, reads}}},
	{"execve", []name{{fromCwd, 0, reads}}}, {"execveat", []name{{0, 1, reads}}},
	{"mkdir", []name{{fromCwd, 0, changes}}}, {"mkdirat", []name{{0, 1, changes}}}, {"rmdir", []name{{fromCwd, 0, changes}}},
	{"unlink", []name{{fromCwd, 0, changes}}}, {"unlinkat", []name{{0, 1, changes}}},
	{"rename", []name{{fromCwd, 0, changes}, {fromCwd, 1, changes}}}, {"renameat", []name{{0, 1, changes}, {2, 3, changes}}}, {"renameat2", []name{{0, 1, changes}, {2, 3, changes}}},
	{"link", []name{{fromCwd, 0, reads}, {fromCwd, 1, changes}}}, {"linkat", []name{{0, 1, reads}, {2, 3, changes}}},
	{"symlink", []name{{fromCwd, 1, changes}}}, {"symlinkat", []name{{1, 2, changes}}},
	{"truncate", []name{{fromCwd, 0, changes}}}, {"mknod", []name{{fromCwd, 0, changes}}}, {"mknodat", []name{{0, 1, changes}}},
	{"chmod", []name{{fromCwd, 0, changes}}}, {"fchmodat", []name{{0, 1, changes}}}, {"fchmodat2", []name{{0, 1, changes}}},
	{"chown", []name{{fromCwd, 0, changes}}}, {"lchown", []name{{fromCwd, 0, changes}}}, {"fchownat", []name{{0, 1, changes}}}, {"utimensat", []name{{0, 1, changes}}},
}

// Calls returns the names of the observed system calls.
func Calls() []string {
	list := make([]string, len(calls))
	for i, c := range calls {
		list[i] = c.call
	}
	return list
}
