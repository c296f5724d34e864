package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is where a repository lies.
type place struct {
	gitDir    string // absolute; "" when there is none
	commonDir string // gitDir but for linked worktrees
	top       string // where .git was found; "" for a bare repository
	file      string // .git, where it is a file
	named     bool   // by GIT_DIR or --git-dir
}

// find looks for the repository of dir as setup.c does: GIT_DIR, else .git as a directory or as a file, else a bare
// repository, here and in each parent up to a ceiling or another file system.
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

// named is the repository that GIT_DIR or --git-dir names; none, where git would find none there either.
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

// toCome reports whether a path is certainly no git directory yet: nothing is there, or a directory without a HEAD (setup.c, is_git_directory). What cannot be looked at,
// and a file, which may lead elsewhere, is another matter.
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

// probe looks at one directory.
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

// checked completes p; a place that is no repository is none, or an error when it must be one.
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

// common finds the directory that linked worktrees share; gitrepository-layout(5), commondir.
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

// Pointer reads a file of git's that holds one path, such as commondir or gitdir.
func Pointer(name string) (string, error) {
	b, err := readFile(name, maxPointer)
	return strings.TrimRight(string(b), "\r\n"), err
}

// valid is setup.c, is_git_directory: HEAD, objects and refs.
func (p place) valid() bool {
	if !isDir(filepath.Join(p.commonDir, "objects")) || !isDir(filepath.Join(p.commonDir, "refs")) {
		return false
	}
	_, _, err := readHead(p.gitDir)
	return err == nil
}

// GitFile reads .git as a file: "gitdir: PATH", relative to the file.
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
