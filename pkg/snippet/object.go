package snippet

import (
	"strconv"
	"strings"
)

// class is the kind of an object whose methods read files.
type class uint8

const (
	parser  class = 1 + iota // of configuration
	archive                  // to which files are added
)

func (r *reader) object(name string, args []value) (value, bool) {
	if r.lang != Python {
		return value{}, false
	}
	v := unknown()
	switch last(name) {
	case "ConfigParser", "RawConfigParser", "SafeConfigParser":
		v.of = parser
	case "TarFile", "ZipFile":
		v.of = archive
	case "open":
		if !strings.HasPrefix(name, "tarfile.") && !strings.HasPrefix(name, "TarFile.") {
			return value{}, false
		}
		v.of = archive
	case "dotenv_values":
		if len(args) > 0 {
			return value{}, false
		}
		r.add(Open, ".env")
	default:
		return value{}, false
	}
	return v, true
}

func (r *reader) method(v value, name string, args []value) value {
	out := value{text: Unknown, none: true, encod: v.encod}
	if r.lang != Python {
		return out
	}
	switch {
	case v.of == parser && name == "read" && len(args) > 0, v.of == archive && (name == "add" || name == "write") && len(args) > 0:
		r.file(Open, args[0])
		return out
	case v.of != 0:
		return out
	}
	switch name {
	case "iterdir":
		return listing(scans, v)
	case "walk":
		return listing(walks, v)
	case "glob":
		return found(v, "/", args)
	case "rglob":
		return found(v, "/**/", args)
	case "open":
		r.does(opens, append([]value{v}, args...))
	case "chmod", "lchmod":
		r.chmod(args, v)
	case "rename":
		r.does(moves, append([]value{v}, args...))
	}
	return out
}

// chmod records a change of modes as the program of that name.
func (r *reader) chmod(mode []value, paths ...value) {
	words := []string{"chmod", Unknown}
	if len(mode) > 0 {
		words[1] = mode[0].mode()
	}
	for _, v := range paths {
		if !v.none && !v.list && v.text != "" {
			words = append(words, merged(v.word()))
		}
	}
	if len(words) > 2 {
		r.add(Start, words...)
	}
}

// mode returns a mode in octal digits: that of 0o755, 0755, "755" or 493.
func (v value) mode() string {
	if v.number == "" {
		return v.word()
	}
	if n, err := strconv.ParseUint(v.number, 0, 16); err == nil {
		return strconv.FormatUint(n, 8)
	}
	return Unknown
}

// here reports whether a call returns the working directory.
func here(lang Language, name string) bool {
	switch name {
	case "process.cwd", "Deno.cwd", "Dir.pwd", "Dir.getwd":
		return true
	case "cwd":
		return lang == Perl
	case "pwd":
		return lang == Julia
	}
	return last(name) == "getcwd" || last(name) == "getwd" || strings.HasSuffix(name, "Path.cwd")
}

// shelljs records a command of the module shelljs, whose functions have the names and the arguments
// of programs.
func (r *reader) shelljs(name string, args []value) bool {
	command, ok := strings.CutPrefix(name, "shelljs.")
	if !ok {
		command, ok = strings.CutPrefix(name, "shell.")
	}
	switch command {
	case "rm", "mv", "cp", "cat", "chmod", "ln", "touch", "head", "tail", "sort", "uniq":
	default:
		ok = false
	}
	if ok && len(args) > 0 {
		r.starts(runsWords, append([]value{known(command)}, args...))
	}
	return ok
}
