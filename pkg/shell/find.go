package shell

import "strings"

// find lists find itself, the files that it deletes or writes, and each command that it runs for
// the files that it finds.
func (c *walker) find(inv invocation) {
	f := findExpression(inv.fields[1:])
	c.emit(inv, "find")
	d := c.dirOf(inv)
	for _, out := range f.outputs {
		c.write(c.locate(out, d), "find", opWrite)
	}
	for _, root := range f.roots {
		if f.before {
			c.write(c.locate(findArgs{}.found(root), d), "find", opDelete)
		} else if f.deletes && !(f.hollow && beneathHere(root)) {
			c.write(c.locate(f.found(root), d), "find", opDelete)
		}
	}
	w := findWrapper("find")
	for _, command := range f.commands {
		c.findCommand(w, inv, f, command)
	}
}

// beneathHere reports whether a path is at or below the working directory.
func beneathHere(f field) bool {
	first, _, _ := strings.Cut(f.text, "/")
	return f.static() && !f.home && first != "" && !strings.Contains("/"+f.text+"/", "/../")
}

// findCommand dispatches one -exec, once for each root. {} stands for what is found below the root.
func (c *walker) findCommand(w *wrapper, inv invocation, f findArgs, command []field) {
	in := *c
	src := *c.src
	src.hole = "{}"
	in.src = &src
	for _, root := range f.roots {
		fields := make([]field, len(command))
		for i, arg := range command {
			fields[i] = f.fill(arg, root)
		}
		in.dispatch(inv.inner(w, fields))
	}
}

// findArgs is a parsed command line of find.
type findArgs struct {
	roots    []field
	name     string // pattern of -name, if every file found must match it
	deletes  bool
	hollow   bool // what is deleted are empty directories: -type d -empty -delete
	tested   bool // some of the files are excluded
	before   bool // files are deleted before any test
	outputs  []field
	commands [][]field
}

// findExpression reads find's arguments: options, roots, then the expression (find(1)).
func findExpression(args []field) findArgs {
	f, args := findRoots(args)
	alternatives, filtered, dirs, empty := false, false, false, false
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; text {
		case "-delete":
			f.hollow = (f.hollow || !f.deletes) && dirs && empty && !alternatives
			f.deletes = true
			f.before = f.before || !f.tested && !filtered // a test after the deletion has no effect on it
		case "-o", "-or", ",", "!", "-not":
			alternatives = true
		case "-name", "-iname":
			f.tested = true
			if i+1 < len(args) && args[i+1].static() && f.name == "" {
				f.name = args[i+1].text
			}
			i++
		case "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-newer", "-mtime", "-mmin", "-atime", "-amin",
			"-ctime", "-cmin", "-size", "-perm", "-user", "-group", "-links", "-inum", "-samefile", "-used":
			filtered = true
			i++
		case "-type":
			dirs = dirs || i+1 < len(args) && args[i+1].text == "d"
			i++
		case "-empty":
			filtered, empty = true, true
		case "-nouser", "-nogroup", "-executable", "-readable", "-writable":
			filtered = true
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				f.outputs = append(f.outputs, args[i+1])
			}
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			n := commandEnd(args[i+1:])
			if n > 0 {
				f.commands = append(f.commands, args[i+1:i+1+n])
			}
			i += n + 1
		}
	}
	f.tested = f.tested || filtered
	switch {
	case alternatives || strings.Trim(f.name, "*") == "":
		f.name = ""
		if filtered && !alternatives {
			f.name = "**"
		}
	}
	return f
}

// findRoots reads the options and the roots, and returns the rest.
func findRoots(args []field) (f findArgs, expression []field) {
	for len(args) > 0 && (args[0].text == "-H" || args[0].text == "-L" || args[0].text == "-P" || strings.HasPrefix(args[0].text, "-O")) {
		args = args[1:]
	}
	if len(args) > 1 && args[0].text == "-D" {
		args = args[2:]
	}
	for len(args) > 0 && !findPredicate(args[0]) {
		f.roots = append(f.roots, args[0])
		args = args[1:]
	}
	if len(f.roots) == 0 {
		f.roots = []field{literal(".", 0)}
	}
	return f, args
}

func findPredicate(f field) bool {
	return isOption(f) || f.text == "(" || f.text == "!" || f.text == ")" || f.text == ","
}

// commandEnd returns the length of the command that ends with ; or {} +.
func commandEnd(args []field) int {
	for i, f := range args {
		if f.text == ";" || f.text == "+" && i > 0 && args[i-1].text == "{}" {
			return i
		}
	}
	return len(args)
}

// found returns the path of what is found below a root: the root itself, or a pattern if only some
// names match.
func (f findArgs) found(root field) field {
	out := root
	out.runs = nil
	out.glob = true
	switch base := strings.TrimSuffix(root.text, "/"); f.name {
	case "":
	case "**":
		out.text = base + "/**"
	default:
		out.text = base + "/**/" + f.name
	}
	return out
}

// fill replaces {} by the path of what is found.
func (f findArgs) fill(arg, root field) field {
	if !strings.Contains(arg.text, "{}") || strings.ContainsAny(arg.text, " \t\n;&|") {
		return arg
	}
	if f.name == "" && arg.text != "{}" {
		f.name = "**"
	}
	found := f.found(root)
	out := arg
	out.text = strings.ReplaceAll(arg.text, "{}", found.text)
	out.dyn, out.many, out.runs = true, arg.text == "{}", runs{{offset: arg.at(0), fixed: true}}
	return out
}
