package protected

// Rule gives the paths of a pattern a class, such as "credentials" or "shell-startup". In a pattern
// "*" stands for any part of one name, and "/**" at the end for the directory and everything below
// it. The beginning of a pattern sets its base: "/" is the root, "~/" the home directory, "./" the
// work space; any other pattern matches in every directory. Patterns are in lower case.
type Rule struct{ Class, Pattern string }

// Rules lists the rules for all paths of the data, those of [Names] and [Credentials] among them.
// The caller must not change the slice.
func Rules() []Rule { return rules }

// Undeclarable lists names under which credentials are kept in home directories. The caller must not
// change the slice.
func Undeclarable() []string { return undeclarable }

// SystemSecrets lists the files and directories in the system's trees that hold credentials. The
// caller must not change the slice.
func SystemSecrets() []string { return systemSecrets }

// Hidden lists files below a home directory that hold a token among other things: a confined command
// does not see them. The caller must not change the slice.
func Hidden() []string { return hidden }

// Caches lists directories whose content its program can create again; "~" is the home directory.
// The caller must not change the slice.
func Caches() []string { return caches }

// DotDirs lists dotted names of directories. The caller must not change the slice.
func DotDirs() []string { return dotDirs }

// List is a list of paths that expressions of policies know as paths.NAME. Its patterns are those of
// doublestar: "/" at the beginning is the root and "~/" the home directory; "**/" stands for any
// directory, "/**/" for any that an absolute path names. Others begin in the work space.
type List struct {
	Name     string
	Patterns []string
	Digest   string // the SHA-256 of the patterns, in hex
}

// Lists lists the lists, sorted by name. The caller must not change the slice.
func Lists() []List { return lists }
