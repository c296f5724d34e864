package repocheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path that go.mod gives the module.
var module = modulePath()

func modulePath() string {
	root, err := findRoot()
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "module ")
}

// skipped are the folders that are not part of the source.
var skipped = []string{".git", "build", ".coding-ethos", "node_modules"}

// source is one Go file.
type source struct {
	path    string // relative to the repository, with slashes
	dir     string // its package
	test    bool
	imports []string
	file    *ast.File
	lines   int
}

// tree is the repository as the rules see it.
type tree struct {
	root    string
	files   []string // every file, relative, sorted
	sources []source
	fset    *token.FileSet
}

// repository reads the tree once.
var repository = sync.OnceValues(readTree)

func load(t *testing.T) *tree {
	t.Helper()
	tr, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func readTree() (*tree, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	tr := &tree{root: root, fset: token.NewFileSet()}
	if err := filepath.WalkDir(root, tr.visit); err != nil {
		return nil, err
	}
	for _, name := range tr.files {
		if path.Ext(name) != ".go" {
			continue
		}
		if err := tr.parse(name); err != nil {
			return nil, err
		}
	}
	return tr, nil
}

// findRoot is the nearest folder upwards that has a go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
}

func (tr *tree) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() && slices.Contains(skipped, entry.Name()) {
		return filepath.SkipDir
	}
	if entry.Type().IsRegular() {
		relative, err := filepath.Rel(tr.root, name)
		if err != nil {
			return err
		}
		tr.files = append(tr.files, filepath.ToSlash(relative))
	}
	return nil
}

func (tr *tree) parse(name string) error {
	file, err := parser.ParseFile(tr.fset, filepath.Join(tr.root, name), nil, parser.ParseComments)
	if err != nil {
		return err
	}
	s := source{
		path: name, dir: path.Dir(name), file: file,
		test:  strings.HasSuffix(name, "_test.go"),
		lines: tr.fset.File(file.Pos()).LineCount(),
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		s.imports = append(s.imports, imported)
	}
	tr.sources = append(tr.sources, s)
	return nil
}

// read is the content of one file of the tree.
func (tr *tree) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(tr.root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// line is where a node begins.
func (tr *tree) line(node ast.Node) int { return tr.fset.Position(node.Pos()).Line }

// within reports whether an import path or folder is base or below it.
func within(name, base string) bool {
	return name == base || strings.HasPrefix(name, base+"/")
}

func withinAny(name string, bases []string) bool {
	return slices.ContainsFunc(bases, func(base string) bool { return within(name, base) })
}
