package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is the location of a repository.
type place struct {
	gitDir    string // absolute; "" if there is none
	commonDir string // gitDir, except for linked work trees
	top       string // where .git was found; "" for a bare repository
	file      string // .git, if it is a file
	named     bool   // named by GIT_DIR or --git-dir
}

// find finds the repository of dir as setup.c does: GIT_DIR, or .git as a directory or a file, or a
// bare repository, in dir and in each parent up to a ceiling or another file system.
func find(dir string, opt Options) (place, error) {
	if opt.GitDir != "" {
		return named(dir, opt)
	}
	start := device(dir)
	for d := dir; ; d = filepath.Dir(d) {
		p, err := probe(d, opt)
		if err != nil || p.gitDir != "" {
			return p, err
		}
		parent := filepath.Dir(d)
		if parent == d || opt.ceiling(parent) || !opt.AcrossFilesystems && device(parent) != start {
			return place{}, nil
		}
	}
}

// named returns the repository that GIT_DIR or --git-dir names. It returns none if git would find
// none either.
func named(dir string, opt Options) (place, error) {
	gitDir := absolute(dir, opt.GitDir)
	if toCome(gitDir) {
		return place{}, nil
	}
	if target, err := GitFile(gitDir); err == nil {
		gitDir = target
	}
	p := place{gitDir: gitDir, top: dir, named: true}
	if err := p.common(opt); err != nil {
		return place{}, err
	}
	if !p.valid() {
		return place{}, fmt.Errorf("open %s: not a git repository", gitDir)
	}
	return p, nil
}

// toCome reports whether a path is certainly not a git directory yet: nothing exists there, or a
// directory without a HEAD (setup.c, is_git_directory). It is false for a path that cannot be
// examined, and for a file, which may point elsewhere.
func toCome(gitDir string) bool {
	info, err := os.Stat(gitDir)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(gitDir)
		return errors.Is(err, fs.ErrNotExist)
	}
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(gitDir, "HEAD"))
	return errors.Is(err, fs.ErrNotExist)
}

func probe(d string, opt Options) (place, error) {
	dot := filepath.Join(d, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && info.Mode().IsRegular():
		gitDir, err := GitFile(dot)
		if err != nil {
			return place{}, err
		}
		return checked(place{gitDir: gitDir, top: d, file: dot}, opt, true)
	case err == nil && info.IsDir():
		if p, err := checked(place{gitDir: dot, top: d}, opt, false); err != nil || p.gitDir != "" {
			return p, err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err):
		return place{}, err
	}
	return checked(place{gitDir: d}, opt, false)
}

// checked completes p. A place that is not a repository yields none, or an error if it must be one.
func checked(p place, opt Options, must bool) (place, error) {
	if err := p.common(opt); err != nil {
		return place{}, err
	}
	switch {
	case p.valid():
		return p, nil
	case must:
		return place{}, fmt.Errorf("open %s: not a git repository", p.gitDir)
	}
	return place{}, nil
}

// common finds the directory that linked work trees share; gitrepository-layout(5), commondir.
func (p *place) common(opt Options) error {
	p.commonDir = p.gitDir
	if opt.CommonDir != "" {
		p.commonDir = absolute(p.gitDir, opt.CommonDir)
		return nil
	}
	text, err := Pointer(filepath.Join(p.gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p.commonDir = absolute(p.gitDir, text)
	return nil
}

// Pointer reads one of git's files that contain one path, such as commondir or gitdir.
func Pointer(name string) (string, error) {
	b, err := readFile(name, maxPointer)
	return strings.TrimRight(string(b), "\r\n"), err
}

// valid is is_git_directory of setup.c: it checks HEAD, objects and refs.
func (p place) valid() bool {
	if !isDir(filepath.Join(p.commonDir, "objects")) || !isDir(filepath.Join(p.commonDir, "refs")) {
		return false
	}
	_, _, err := readHead(p.gitDir)
	return err == nil
}

// GitFile reads .git if it is a file: "gitdir: PATH", relative to the file.
func GitFile(name string) (string, error) {
	b, err := readFile(name, maxPointer)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
	if !ok || target == "" || strings.ContainsRune(target, 0) {
		return "", fmt.Errorf("read %s: not a gitdir file", name)
	}
	return absolute(filepath.Dir(name), target), nil
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
