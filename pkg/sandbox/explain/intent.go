package explain

import (
	"path/filepath"
	"slices"
	"strings"
)

// removing are the calls that change a name: what has to be writable is the
// directory, because a file that is declared by itself is a mount, which can be
// neither removed nor replaced.
var removing = []string{"unlink", "unlinkat", "rename", "renameat", "renameat2", "rmdir"}

// programs that change what they are given look at it first, and fail there.
var (
	changers = []string{"chmod", "chown", "chgrp", "touch", "truncate", "tee", "mktemp", "mkfifo", "mkdir", "shred", "patch", "dd"}
	removers = []string{"rm", "mv", "rmdir", "unlink", "rename"}
)

// sharpen says of what a program asked first what it asked it for.
func (x *Explainer) sharpen(n Need) Need {
	n.Entry = n.Entry || slices.Contains(removing, n.Call)
	if n.Socket || n.Address.IsValid() {
		return n
	}
	n.Path = x.named(n.Path)
	n.Write = n.Write || slices.Contains(changers, n.Process) && x.operand(n.Path)
	if slices.Contains(removers, n.Process) && x.operand(n.Path) || x.inPlace(n) {
		n.Write, n.Entry = true, true
	}
	if n.Process == "tar" && slices.ContainsFunc(x.plan.Argv, func(arg string) bool { return strings.Trim(arg, "-xzjJvfp") == "" && strings.Contains(arg, "x") }) && x.after("-C", n.Path) {
		n.Write = true
	}
	return n
}

// named is the path of the command line that a program came to by way of path:
// realpath(3) asks for one part after the other.
func (x *Explainer) named(path string) string {
	for _, arg := range arguments(x.plan.Argv) {
		if full := x.absolute(arg); strings.HasPrefix(full, strings.TrimSuffix(path, "/")+"/") {
			if at, err := x.files.Lstat(full); err == nil && at != nil {
				return full
			}
		}
	}
	return path
}

// operand reports a path of the command line, or what lies in one.
func (x *Explainer) operand(path string) bool {
	for _, arg := range arguments(x.plan.Argv) {
		arg = strings.TrimPrefix(arg, "of=")
		if full := x.absolute(arg); full == path || strings.HasPrefix(path, full+"/") {
			return filepath.Base(first(x.plan.Argv)) != "dd" || slices.Contains(x.plan.Argv, "of="+arg)
		}
	}
	return false
}

// inPlace reports a file that sed or perl is to replace.
func (x *Explainer) inPlace(n Need) bool {
	program := filepath.Base(first(x.plan.Argv))
	return (program == "sed" || program == "perl") && (n.Process == "" || n.Process == program) && x.operand(n.Path) &&
		slices.ContainsFunc(x.plan.Argv, func(arg string) bool { return strings.HasPrefix(arg, "-i") || arg == "--in-place" || arg == "-pi" })
}

// after reports a path that follows an option.
func (x *Explainer) after(option, path string) bool {
	i := slices.Index(x.plan.Argv, option)
	return i >= 0 && i+1 < len(x.plan.Argv) && x.absolute(x.plan.Argv[i+1]) == path
}

func first(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}
