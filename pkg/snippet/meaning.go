package snippet

import (
	"strings"

	"ethos/pkg/lazy"
)

// meaning says what a call does with its arguments.
type meaning uint8

const (
	runsNothing meaning = iota // its arguments are data
	runsText                   // the first argument is shell code, or a list of words
	runsWords                  // the arguments are words, or a program and a list
	runsAfter                  // likewise, after a path or a mode
	opens                      // PATH, MODE
	opensPerl                  // HANDLE, MODE, PATH
	reads
	writes
	appends
	deletes
	deletesTree
	moves // FROM, TO
	copies
	evaluates
	decodes
	expands // the call returns its argument
	joins
	globs
	lists   // the names in a directory
	scans   // the paths in a directory
	walks   // the directories below a directory
	chmods  // PATH, MODE
	chmodsN // MODE, PATH…
	enters
)

// meanings returns the known calls of a language, by the last part of their
// name.
func meanings(lang Language) map[string]meaning { return calls.Get()[lang] }

// calls is built on first use, because most command lines contain no code in
// another language.
var calls = lazy.Value[map[Language]map[string]meaning]{Make: func() map[Language]map[string]meaning {
	return map[Language]map[string]meaning{
		Python: {
			"system": runsText, "popen": runsText, "getoutput": runsText, "getstatusoutput": runsText, "create_subprocess_shell": runsText,
			"run": runsText, "call": runsText, "check_call": runsText, "check_output": runsText, "Popen": runsText, "spawn": runsText,
			"create_subprocess_exec": runsWords, "execl": runsAfter, "execlp": runsAfter, "execle": runsAfter, "execv": runsAfter, "execvp": runsAfter, "execve": runsAfter, "execvpe": runsAfter,
			"spawnl": runsAfter, "spawnlp": runsAfter, "spawnv": runsAfter, "spawnvp": runsAfter, "posix_spawn": runsAfter,
			"open": opens, "remove": deletes, "unlink": deletes, "rmdir": deletes, "removedirs": deletes, "rmtree": deletesTree, "remove_tree": deletesTree,
			"move": moves, "rename": moves, "renames": moves, "replace": moves, "copy": copies, "copy2": copies, "copyfile": copies, "copytree": copies, "symlink": copies, "link": copies,
			"exec": evaluates, "eval": evaluates, "b64decode": decodes, "standard_b64decode": decodes, "urlsafe_b64decode": decodes, "expanduser": expands, "Path": expands, "PosixPath": expands,
			"str": expands, "realpath": expands, "abspath": expands, "expandvars": expands, "join": joins, "glob": globs, "iglob": globs, "read_text": reads, "input": reads, "truncate": writes, "FileInput": reads,
			"listdir": lists, "scandir": scans, "walk": walks, "fwalk": walks, "sorted": expands, "list": expands, "reversed": expands, "fspath": expands, "chmod": chmods, "lchmod": chmods, "chdir": enters, "dotenv_values": reads,
		},
		JavaScript: {
			"exec": runsText, "execSync": runsText, "spawn": runsWords, "spawnSync": runsWords, "execFile": runsWords, "execFileSync": runsWords, "fork": runsWords, "$": runsText, "Command": runsWords, "run": runsWords,
			"readFile": reads, "readFileSync": reads, "createReadStream": reads, "readTextFile": reads, "readTextFileSync": reads, "file": reads, "openSync": opens, "open": opens,
			"write": writes, "writeFile": writes, "writeFileSync": writes, "appendFile": writes, "appendFileSync": writes, "createWriteStream": writes, "writeTextFile": writes, "writeTextFileSync": writes, "truncateSync": writes,
			"unlink": deletes, "unlinkSync": deletes, "rmdir": deletes, "rmdirSync": deletesTree, "rm": deletesTree, "rmSync": deletesTree, "remove": deletesTree, "removeSync": deletesTree, "rimraf": deletesTree, "rimrafSync": deletesTree, "emptyDirSync": deletesTree,
			"rename": moves, "renameSync": moves, "moveSync": moves, "copyFile": copies, "copyFileSync": copies, "cp": copies, "cpSync": copies, "symlinkSync": copies,
			"eval": evaluates, "Function": evaluates, "runInNewContext": evaluates, "runInThisContext": evaluates, "atob": decodes, "from": decodes, "join": joins, "resolve": joins, "homedir": expands, "String": expands,
			"execa": runsWords, "execaSync": runsWords, "execaCommand": runsText, "execaCommandSync": runsText, "cross-spawn": runsWords, "chmod": chmods, "chmodSync": chmods, "chdir": enters,
		},
		Ruby: {
			"system": runsWords, "exec": runsWords, "spawn": runsWords, "popen": runsWords, "popen3": runsWords, "capture2": runsWords, "capture2e": runsWords, "capture3": runsWords, "sh": runsWords,
			"read": reads, "readlines": reads, "binread": reads, "foreach": reads, "open": opens, "new": opens, "write": writes, "binwrite": writes,
			"delete": deletes, "unlink": deletes, "rm": deletes, "rm_f": deletes, "rmdir": deletes, "rm_r": deletesTree, "rm_rf": deletesTree, "rmtree": deletesTree, "remove_dir": deletesTree, "remove_entry": deletesTree, "remove_entry_secure": deletesTree,
			"mv": moves, "rename": moves, "cp": copies, "cp_r": copies, "copy": copies, "ln_s": copies, "symlink": copies, "eval": evaluates, "instance_eval": evaluates, "decode64": decodes, "strict_decode64": decodes,
			"expand_path": expands, "join": joins, "glob": globs, "Pathname": expands, "chmod": chmodsN,
		},
		Perl: {
			"system": runsWords, "exec": runsWords, "open": opensPerl, "unlink": deletes, "rmdir": deletes, "rmtree": deletesTree, "remove_tree": deletesTree, "rename": moves, "move": moves, "copy": copies,
			"eval": evaluates, "decode_base64": decodes, "glob": globs, "symlink": copies, "link": copies, "readpipe": runsWords, "slurp": reads, "read_file": reads, "write_file": writes, "chmod": chmodsN, "chdir": enters,
		},
		PHP: {
			"system": runsText, "exec": runsText, "shell_exec": runsText, "passthru": runsText, "popen": runsText, "proc_open": runsText, "pcntl_exec": runsWords,
			"file_get_contents": reads, "readfile": reads, "file": reads, "fopen": opens, "file_put_contents": writes, "unlink": deletes, "rmdir": deletes, "rename": moves, "copy": copies, "symlink": copies,
			"eval": evaluates, "assert": evaluates, "base64_decode": decodes, "glob": globs, "show_source": reads, "highlight_file": reads, "parse_ini_file": reads, "chmod": chmods, "chdir": enters,
		},
		Lua: {
			"execute": runsText, "popen": runsText, "open": opens, "lines": reads, "remove": deletes, "rename": moves, "rmdir": deletes, "load": evaluates, "loadstring": evaluates, "dofile": reads,
		},
		Awk: {"system": runsText},
		R: {
			"system": runsText, "shell": runsText, "system2": runsWords, "pipe": runsText, "unlink": deletesTree, "remove": deletes, "rename": moves, "copy": copies,
			"readLines": reads, "readRDS": reads, "scan": reads, "csv": reads, "table": reads, "file": reads, "readChar": reads, "writeLines": runsNothing, "sink": writes, "dir_delete": deletesTree, "file_delete": deletes,
		},
		Julia: {
			"rm": deletesTree, "read": reads, "readlines": reads, "eachline": reads, "open": opens, "write": writes, "mv": moves, "cp": copies, "touch": writes, "joinpath": joins, "homedir": expands, "expanduser": expands,
		},
	}
}}

// result records what a call does, and returns the call's value.
func (r *reader) result(name string, args []value) value {
	if last(name) == "homedir" || strings.HasSuffix(name, "Path.home") || name == "Dir.home" {
		return known("~")
	}
	if last(name) == "getenv" || strings.HasSuffix(name, "environ.get") || name == "ENV.fetch" {
		if len(args) > 0 && args[0].text == "HOME" {
			return known("~")
		}
		return unknown()
	}
	if here(r.lang, name) {
		return known(".")
	}
	if v, ok := r.object(name, args); ok {
		return v
	}
	if len(args) == 0 {
		return unknown()
	}
	if r.lang == PHP && len(args) > 1 && !args[0].none && (name == "array_map" || name == "call_user_func" || name == "call_user_func_array") {
		return r.result(args[0].text, args[1:])
	}
	if r.lang == JavaScript {
		if name = strings.TrimSuffix(name, ".sync"); r.shelljs(name, args) {
			return unknown()
		}
	}
	m := meanings(r.lang)[last(name)]
	if only, ok := qualified.Get()[last(name)]; ok && (r.lang == Python || r.lang == JavaScript || r.lang == Ruby) && !within(name, only) {
		return unknown()
	}
	switch m {
	case decodes:
		if last(name) == "from" && (len(args) < 2 || args[1].text != "base64") {
			return args[0]
		}
		return decoded(args[0])
	case globs:
		v := args[0]
		v.each = r.lang == Python
		return v
	case lists, scans, walks:
		return listing(m, args[0])
	case expands:
		return args[0]
	case joins:
		return joined(args, "/")
	}
	r.does(m, args)
	return unknown()
}

// qualified lists names that only count after one of these prefixes.
var qualified = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"run": "subprocess sp Deno", "call": "subprocess sp", "replace": "os", "copy": "shutil FileUtils File", "move": "shutil", "remove": "os Deno fs fse fs-extra File", "link": "os", "join": "path File os.path posixpath",
		"from": "Buffer", "rm": "fs fsp promises FileUtils fs/promises node:fs node:fs/promises", "file": "Bun", "spawn": "pty child_process cp Bun Process Kernel spawn", "glob": "glob Dir", "delete": "File FileUtils",
		"read": "File IO", "write": "File IO Bun", "new": "File", "resolve": "path", "input": "fileinput", "open": "open File IO io os fs fsp promises Kernel builtins codecs URI gzip", "cp": "fs FileUtils fsp promises", "String": "String", "Command": "Deno",
		"chmod": "os fs fsp promises File FileUtils", "chdir": "os process", "walk": "os", "sorted": "builtins", "list": "builtins",
		"rename": "os fs File FileUtils fsp", "exec": "exec child_process cp Kernel Process builtins node:child_process shelljs shell", "unlink": "os fs File FileUtils fsp promises node:fs", "symlink": "os fs File FileUtils",
		"eval": "eval global globalThis window builtins", "rmdir": "os fs Dir FileUtils fsp", "system": "os system Kernel", "foreach": "File IO", "truncate": "os", "popen": "os popen IO Open3", "getoutput": "subprocess commands getoutput",
	}
}}

func within(name, only string) bool {
	before := strings.TrimSuffix(strings.TrimSuffix(name, last(name)), ".")
	if before == "" { // imported by its name
		return true
	}
	for each := range strings.FieldsSeq(only) {
		if last(before) == each || before == each {
			return true
		}
	}
	return false
}

func (r *reader) does(m meaning, args []value) {
	for _, each := range args[0].alt {
		r.does(m, append([]value{each}, args[1:]...))
	}
	first := args[0]
	if first.alt != nil {
		return
	}
	if m != deletes && m != deletesTree {
		first = first.single()
	}
	switch m {
	case chmods:
		r.chmod(args[1:], first)
	case chmodsN:
		r.chmod(args[:1], args[1:]...)
	case enters:
		r.add(Enter, first.word())
	case runsText, runsWords, runsAfter:
		r.starts(m, args)
	case opens:
		mode := "r"
		if len(args) > 1 && !args[1].none && !args[1].list {
			mode = args[1].text
		}
		if strings.ContainsAny(mode, "wax+") {
			r.file(Write, first)
		} else {
			r.file(Open, first)
		}
	case opensPerl:
		r.opensPerl(args)
	case reads:
		r.file(Open, first)
	case writes, appends:
		r.file(Write, first)
	case deletes, deletesTree:
		k := Delete
		if m == deletesTree {
			k = Tree
		}
		for _, a := range args {
			r.file(k, a)
		}
	case moves, copies:
		r.file(map[meaning]Kind{moves: Delete, copies: Open}[m], first)
		if len(args) > 1 {
			r.file(Write, args[1])
		}
	case evaluates:
		switch {
		case first.encod:
			r.add(Opaque)
		case !first.none && !first.list && r.depth < 4 && *r.work < maxWork:
			r.acts = append(r.acts, readMore(r.lang, strings.ReplaceAll(first.text, Unknown, "None"), r.depth+1, r.work)...)
			r.acts = r.acts[:min(len(r.acts), maxActs)]
		}
	}
}

func (r *reader) starts(m meaning, args []value) {
	first := args[0]
	if m == runsAfter {
		if args = args[1:]; len(args) == 0 {
			return
		}
		if args[0].list {
			first = args[0]
		}
	}
	switch {
	case first.list:
		r.words(first.items)
	case m == runsText && !first.none:
		r.add(Shell, first.text)
	case m == runsText:
	case len(args) == 1 && !first.none:
		r.add(Shell, first.text)
	default:
		var all []value
		for _, a := range args {
			if a.list {
				all = append(all, a.items...)
			} else if !a.none || len(all) > 0 {
				all = append(all, a)
			}
		}
		r.words(all)
	}
}

func (r *reader) words(items []value) {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = item.word()
	}
	if len(words) > 0 && words[0] != Unknown {
		r.add(Start, words...)
	}
}

// opensPerl handles open(F, "<", FILE), open(F, ">FILE") and open(F, "CODE |").
func (r *reader) opensPerl(args []value) {
	if len(args) < 2 || args[1].none {
		return
	}
	mode := args[1].text
	path := known(strings.TrimSpace(strings.TrimLeft(mode, "<>+ ")))
	if len(args) > 2 {
		path = args[2]
	}
	switch {
	case strings.HasPrefix(mode, "|"), strings.HasPrefix(mode, "-|"), strings.HasSuffix(strings.TrimSpace(mode), "|"):
		if len(args) > 2 {
			r.starts(runsWords, args[2:])
		} else {
			r.add(Shell, strings.Trim(mode, "| "))
		}
	case strings.Contains(mode, ">"):
		r.file(Write, path)
	default:
		r.file(Open, path)
	}
}
