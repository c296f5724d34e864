package facts

import (
	"path"
	"slices"
	"strings"
)

// codeExtensions are the extensions of source files that run without being built.
var codeExtensions = []string{".sh", ".bash", ".zsh", ".ksh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".pl", ".pm", ".php", ".lua", ".mk", ".mak", ".r", ".R", ".jl", ".tcl", ".ps1", ".awk", ".sed"}

// dataExtensions are the extensions of files that code reads rather than runs, even in a line that
// loads other code.
var dataExtensions = []string{".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv", ".tsv", ".md", ".html", ".htm", ".css", ".xml", ".svg", ".png", ".jpg", ".gz", ".zip", ".parquet", ".sqlite", ".db", ".log"}

// scriptExtensions are the extensions that JavaScript may omit when it names a file.
var scriptExtensions = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", "/index.js", "/index.ts", "/index.mjs"}

// extensionOf returns the extension of an interpreter's files, or "" if it needs none.
func extensionOf(name string) string {
	switch name {
	case "python", "pypy":
		return ".py"
	case "node", "nodejs", "deno", "bun", "tsx", "ts-node":
		return ".js"
	case "ruby":
		return ".rb"
	case "perl":
		return ".pm"
	case "lua", "luajit":
		return ".lua"
	case "php":
		return ".php"
	}
	return ""
}

// loading are words that mark a line as loading other code, whatever the name of the file.
var loading = []string{"import", "from", "require", "require_relative", "include", "include_once", "-include", "sinclude", "require_once", "load", "use", "source", ".", "dofile", "import_module", "__import__", "sh", "bash", "dash", "zsh", "python", "python3", "node", "perl", "ruby", "php", "lua", "exec"}

// mentioned follows the files that a text of code names: in quotes, as words of a command, or as an
// import. It does not see a name that the code computes.
func (o *originWork) mentioned(text []byte, name, dir, cwd string, depth int) {
	dirs := []string{dir}
	for _, d := range []string{cwd, o.place.workspace} {
		if d != "" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	ext := path.Ext(name)
	seen := map[string]bool{}
	for line := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' || r == ';' || r == '&' || r == '|' }) {
		comment := strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "//")
		if comment {
			continue
		}
		loads, first := false, true
		for w, from := range wordsIn(line) {
			// The word is the end of a path whose directory is a variable or a substitution.
			if from == '$' {
				_, w, _ = strings.Cut(w, "/")
			} else if strings.HasPrefix(w, "/") && (from == ')' || from == '}' || from == '"' || from == '\'' || from == '`') && !within(w, o.place.workspace) {
				w = strings.TrimLeft(w, "/")
			}
			begins := first
			if begins && ext != ".json" && slices.Contains(inspecting, w) && !strings.ContainsAny(line, "$`") {
				break
			}
			first = begins && slices.Contains([]string{"if", "then", "do", "else", "@", "-", "!"}, w)
			if from == '>' {
				continue
			}
			if slices.Contains(loading, w) && (w != "." || begins) {
				loads = true
				continue
			}
			key := w
			if loads {
				key = "\x00" + w
			}
			if w == "" || seen[key] {
				continue
			}
			seen[key] = true
			for _, d := range dirs {
				o.candidates(w, ext, d, cwd, loads, depth)
			}
		}
	}
}

// candidates follows the files that a word may mean, relative to a directory.
func (o *originWork) candidates(w, ext, dir, cwd string, loads bool, depth int) {
	o.candidate(w, dir, cwd, loads, depth)
	if !loads {
		return
	}
	switch ext {
	case ".py":
		module := strings.TrimLeft(w, ".")
		up := strings.Repeat("../", max(0, len(w)-len(module)-1))
		if module = up + strings.ReplaceAll(module, ".", "/"); module != "" {
			o.candidate(module+".py", dir, cwd, true, depth)
			o.candidate(path.Join(module, "__init__.py"), dir, cwd, true, depth)
			if parent := path.Dir(module); parent != "." { // `import a.b` also runs a/__init__.py
				o.candidate(path.Join(parent, "__init__.py"), dir, cwd, true, depth)
				o.candidate(parent+".py", dir, cwd, true, depth)
			}
			for pkg := range o.packages(module, dir) {
				o.candidate(pkg, dir, cwd, true, depth)
			}
		}
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx":
		if strings.HasPrefix(w, ".") {
			for _, e := range scriptExtensions {
				o.candidate(w+e, dir, cwd, true, depth)
			}
		}
	case ".rb", ".pl", ".pm", ".lua", ".php":
		o.candidate(w+ext, dir, cwd, true, depth)
		o.candidate(strings.NewReplacer("::", "/", ".", "/").Replace(w)+ext, dir, cwd, true, depth)
	}
}

// packages yields the Python files of a package, because `from package import name` may import one
// of them. It yields nothing for a plain module.
func (o *originWork) packages(module, dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		first, _, _ := strings.Cut(module, "/")
		if !o.names(dir)[first] || strings.Contains(module, "..") {
			return
		}
		for name := range o.names(path.Join(dir, module)) {
			if strings.HasSuffix(name, ".py") && !yield(path.Join(module, name)) {
				return
			}
		}
	}
}

// candidate follows one name, if the file exists and is of a kind that is run.
func (o *originWork) candidate(name, dir, cwd string, loads bool, depth int) {
	if strings.HasPrefix(name, "~") {
		return
	}
	at := path.Clean(name)
	if !path.IsAbs(at) {
		if first, _, _ := strings.Cut(at, "/"); first != ".." && !o.names(dir)[first] {
			return
		}
		at = path.Join(dir, at)
	}
	if !within(at, o.place.workspace) || o.followed[at] {
		return
	}
	info, err := o.d.opt.Tree.Lstat(at)
	if err != nil || info.IsDir() || (!loads || slices.Contains(dataExtensions, path.Ext(at))) && !executable(at, info) {
		return
	}
	o.follow(at, cwd, depth+1)
}

// inspecting are programs that do not run the files that they name.
var inspecting = []string{"rm", "rmdir", "echo", "printf", "test", "ls", "touch", "mkdir", "chmod", "grep", "wc", "head", "tail", "diff"}

// wordsIn yields the words of a line that may be file names, each with the byte before it. After a
// redirection operator that byte is the operator, even if spaces follow it.
func wordsIn(line string) func(yield func(string, byte) bool) {
	return func(yield func(string, byte) bool) {
		start := -1
		for i := 0; i <= len(line); i++ {
			if i < len(line) && nameByte(line[i]) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 {
				before := byte(0)
				if start > 0 {
					before = line[start-1]
				}
				if strings.HasSuffix(strings.TrimRight(line[:start], " \t"), ">") {
					before = '>'
				}
				if !yield(line[start:i], before) {
					return
				}
				start = -1
			}
		}
	}
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_./-+@~", c) >= 0
}
