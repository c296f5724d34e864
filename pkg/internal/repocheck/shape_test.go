package repocheck

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	longFunction = 60  // lines; a longer one states its reason in its comment: "long: …"
	longFile     = 400 // lines, tests aside; 40 to 350 is the aim, a longer one is named below with its reason
	shortComment = 80  // bytes; a shorter package comment says no more than the name
)

// longFiles are the files that may be longer, each with its reason.
var longFiles = map[string]string{}

func TestFunctionLengths(t *testing.T) {
	tr := load(t)
	for _, s := range tr.sources {
		for _, declaration := range s.file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || s.test {
				continue
			}
			n := tr.fset.Position(f.End()).Line - tr.line(f) + 1
			if n > longFunction && !strings.Contains(f.Doc.Text(), "long: ") {
				t.Errorf("%s:%d: %s has %d lines: split it, or give the reason in its comment after \"long: \"",
					s.path, tr.line(f), f.Name.Name, n)
			}
		}
	}
}

func TestFileLengths(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range load(t).sources {
		_, excused := longFiles[s.path]
		seen[s.path] = true
		if s.lines > longFile && !s.test && !excused && !ast.IsGenerated(s.file) {
			t.Errorf("%s: %d lines: one concept a file, or its reason in longFiles", s.path, s.lines)
		}
	}
	for name := range longFiles {
		if !seen[name] {
			t.Errorf("longFiles names %s, which is not there", name)
		}
	}
}

func TestPackageComments(t *testing.T) {
	comments, folders, main := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, s := range load(t).sources {
		if !s.test {
			folders[s.dir] = true
			main[s.dir] = s.file.Name.Name == "main"
			comments[s.dir] += s.file.Doc.Text()
		}
	}
	for dir := range folders {
		comment := comments[dir]
		begins := func(want string) bool { return strings.HasPrefix(comment, want) }
		if wanted := commentStarts(dir, main[dir]); !slices.ContainsFunc(wanted, begins) || len(comment) < shortComment {
			t.Errorf("%s: the package comment begins %q, wanted %q and what it is for", dir, first(comment, 40), wanted)
		}
	}
}

// commentStarts are the ways in which go doc wants a package comment to begin; see "Go Doc Comments".
func commentStarts(dir string, main bool) []string {
	name := path.Base(dir)
	if main {
		return []string{strings.ToUpper(name[:1]) + name[1:] + " ", "Command " + name + " "}
	}
	return []string{"Package " + name + " "}
}

// TestMains holds that main is a doorbell.
func TestMains(t *testing.T) {
	for _, s := range load(t).sources {
		if within(s.dir, "cmd") && path.Base(s.path) == "main.go" && s.lines > 21 {
			t.Errorf("%s: %d lines: main.go has at most 20", s.path, s.lines)
		}
	}
}

func first(s string, n int) string { return s[:min(len(s), n)] }
