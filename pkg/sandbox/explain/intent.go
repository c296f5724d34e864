package explain

import (
	"path/filepath"
	"slices"
	"strings"
)

// removing lists the calls that change a name. They need a writable directory,
// because a file that is declared by itself is a mount point, which can be
// neither removed nor replaced.
var removing = []string{"unlink", "unlinkat", "rename", "renameat", "renameat2", "rmdir"}

// Programs that change their operands look at them first, and fail at that
// point.
var (
	changers = []string{"chmod", "chown", "chgrp", "touch", "truncate", "tee", "mktemp", "mkfifo", "mkdir", "shred", "patch", "dd"}
	removers = []string{"rm", "mv", "rmdir", "unlink", "rename"}
)

// sharpen replaces a program's first request with the purpose of that request.
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

// named returns the path on the command line that a program reached by way of
// path: realpath(3) asks for one component after the other.
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

// operand reports whether a path is on the command line, or lies in one that
// is.
func (x *Explainer) operand(path string) bool {
	for _, arg := range arguments(x.plan.Argv) {
		arg = strings.TrimPrefix(arg, "of=")
		if full := x.absolute(arg); full == path || strings.HasPrefix(path, full+"/") {
			return filepath.Base(first(x.plan.Argv)) != "dd" || slices.Contains(x.plan.Argv, "of="+arg)
		}
	}
	return false
}

// inPlace reports whether sed or perl is to replace a file.
func (x *Explainer) inPlace(n Need) bool {
	program := filepath.Base(first(x.plan.Argv))
	return (program == "sed" || program == "perl") && (n.Process == "" || n.Process == program) && x.operand(n.Path) &&
		slices.ContainsFunc(x.plan.Argv, func(arg string) bool { return strings.HasPrefix(arg, "-i") || arg == "--in-place" || arg == "-pi" })
}

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
