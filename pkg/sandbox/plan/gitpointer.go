package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// gitFile is the directory that .git names where it is a file: setup.c,
// read_gitfile_gently. ok says that there is such a directory.
func (b *builder) gitFile(path string) (dir string, ok bool) {
	text, err := b.files.files.ReadFile(path)
	line, named := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !named {
		return "", false
	}
	p, err := b.files.resolve(pointer(filepath.Dir(path), line))
	return p.path, err == nil && p.dir
}

// commonDir is the directory that a git directory shares parts with, itself when
// there is no other: setup.c, get_common_dir_noenv. linked says that a file names
// it. What can be no directory for git either is none.
func (b *builder) commonDir(dir string) (common string, linked bool, err error) {
	text, err := b.files.files.ReadFile(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return dir, false, nil
	}
	if err != nil {
		return "", false, err
	}
	p, err := b.files.resolve(pointer(dir, string(text)))
	if err != nil || !p.dir {
		return dir, true, nil
	}
	return p.path, true, nil
}

// pointer is the path in a file of git's that holds one, not yet resolved: nothing
// is taken out of it by its text, since ".." behind a symbolic link leads
// elsewhere. Git takes line ends away at the end of the file, of whatever length,
// and the path then ends at the first NUL, as a string in C does.
func pointer(dir, text string) string {
	text = strings.TrimRight(text, "\r\n")
	text, _, _ = strings.Cut(text, "\x00")
	if filepath.IsAbs(text) {
		return text
	}
	return dir + "/" + text
}

// hasObjects reports whether a directory has the parts that work trees share.
func (b *builder) hasObjects(dir string) bool { return b.has(dir, "objects") && b.has(dir, "refs") }

// isGitDir is setup.c, is_git_directory, but for what HEAD says.
func (b *builder) isGitDir(dir string) bool {
	common, _, err := b.commonDir(dir)
	return b.has(dir, "HEAD") && (err != nil || b.hasObjects(common))
}
