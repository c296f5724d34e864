package shell

import "strings"

// effect says what a utility does with its operands.
type effect uint8

const (
	effNone effect = iota
	effRead
	effDelete
	effCreate
	effWrite
	effMode  // the first operand is a mode, an owner, …
	effTouch // create
	effMove
	effCopy
	effInstall
	effLink
	effDD
	effTee
	effTruncate
	effShred
	effPatch
	effSed
	effPerl
	effAwk
	effTar
	effUnzip
	effZip
	effRsync
	effCurl
	effWget
	effInPlace // rewrites its operands if an option says so: gofmt -w
	effPack    // gzip
	effOutput  // writes the file that -o names
	effSort
	effGrep
	effSplit
	effScp
	effServe
	effMknod
	effArchive
	effIconv
	effEditor
	effCrontab
	effGio
	effTemporary
	effGo
	effSSH
)

// utility is a program whose operands are files.
type utility struct {
	name   string
	effect effect
	grammar
	// with lists the options that turn the effect on (effInPlace), or those that name an output
	// file (effOutput) or a directory (effServe).
	with string
}

// findUtility returns the entry of a name. GNU tools on other systems have the prefix g.
func findUtility(name string) *utility {
	if u := lookup(utilities[:], name, func(u *utility) string { return u.name }); u != nil {
		return u
	}
	if strings.HasPrefix(name, "mkfs.") {
		return findUtility("mkfs")
	}
	if len(name) > 2 && name[0] == 'g' {
		return findUtility(name[1:])
	}
	return nil
}

// knownCommand reports whether a name is one that scripts expect to mean a certain program or builtin.
func knownCommand(name string) bool {
	if u := findUtility(name); u != nil && u.effect != effServe || findWrapper(name) != nil { // serve is a usual name of a function
		return true
	}
	if _, ok := findInterpreter(name); ok {
		return true
	}
	return isBuiltin(name)
}

func isBuiltin(name string) bool {
	switch name {
	case ":", ".", "[", "alias", "bg", "bind", "break", "caller", "cd", "compgen", "complete", "compopt", "continue", "declare",
		"dirs", "disown", "enable", "eval", "exit", "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs",
		"let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return", "set", "shift", "shopt",
		"suspend", "test", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait":
		return true
	}
	return false
}
