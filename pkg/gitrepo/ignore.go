package gitrepo

import (
	"path"
	"path/filepath"
	"strings"
)

// maxIgnore is the size limit of one file of patterns.
const maxIgnore = 1 << 20

// ignorePattern is one line of gitignore(5).
type ignorePattern struct {
	glob     string
	negate   bool
	dirOnly  bool
	anchored bool // compared with the path below the pattern's directory, else with the last component
}

// ignoreFile has the patterns of one directory: those of its .gitignore, or those for the whole
// repository.
type ignoreFile struct {
	dir      string // relative to the work tree; "" is its root
	patterns []ignorePattern
}

func readIgnore(file, dir string) ignoreFile {
	out := ignoreFile{dir: dir}
	text, err := readFile(file, maxIgnore)
	if err != nil { // an unreadable file ignores nothing, so that more counts as work
		return out
	}
	for line := range strings.Lines(string(text)) {
		if p, ok := parseIgnore(strings.TrimRight(line, "\r\n")); ok {
			out.patterns = append(out.patterns, p)
		}
	}
	return out
}

func parseIgnore(line string) (p ignorePattern, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return p, false
	}
	line, p.negate = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	return p, p.glob != ""
}

// match reports whether a pattern of the file matches a path below its directory; the last match
// counts.
func (f ignoreFile) match(name string, isDir bool) (ignored, decided bool) {
	rest := name
	if f.dir != "" {
		rest = strings.TrimPrefix(name, f.dir+"/")
	}
	for i := len(f.patterns) - 1; i >= 0; i-- {
		p := f.patterns[i]
		subject := rest
		if !p.anchored {
			subject = path.Base(rest)
		}
		if (isDir || !p.dirOnly) && wild(p.glob, subject) {
			return !p.negate, true
		}
	}
	return false, false
}

// ignores has the files that apply at a place, the nearest last.
type ignores []ignoreFile

func (s ignores) ignored(name string, isDir bool) bool {
	for i := len(s) - 1; i >= 0; i-- {
		if ignored, decided := s[i].match(name, isDir); decided {
			return ignored
		}
	}
	return false
}

// ignoresOf returns the patterns that apply in the whole work tree, the weakest first.
func (r *Repository) ignoresOf(opt Options) ignores {
	file, set := r.Config.Get("core.excludesfile")
	if !set {
		if file = ""; opt.xdg() != "" {
			file = filepath.Join(opt.xdg(), "git", "ignore")
		}
	} else if expanded, known := (&loader{home: opt.Home}).expand(file); known {
		file = absolute(r.Record.Root, expanded)
	}
	return ignores{readIgnore(file, ""), readIgnore(filepath.Join(r.Record.CommonDir, "info/exclude"), "")}
}
