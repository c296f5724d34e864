package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// gitFile returns the directory that a .git file names: setup.c, read_gitfile_gently. ok is
// false if there is no such directory.
func (b *builder) gitFile(path string) (dir string, ok bool) {
	text, err := b.files.files.ReadFile(path)
	line, named := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !named {
		return "", false
	}
	p, err := b.files.resolve(pointer(filepath.Dir(path), line))
	return p.path, err == nil && p.dir
}

// commonDir returns the directory that a git directory shares parts with, or dir itself if
// there is none: setup.c, get_common_dir_noenv. linked reports whether a commondir file
// exists. A target that is no directory is ignored, because git cannot use it either.
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

// pointer returns the path in a git file that holds one, not yet resolved. The path is not
// cleaned, because ".." after a symbolic link leads elsewhere. Like git, it removes all
// line ends at the end of the file; the path then ends at the first NUL, as a C string
// does.
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

// isGitDir is is_git_directory in setup.c, without its check of the content of HEAD.
func (b *builder) isGitDir(dir string) bool {
	common, _, err := b.commonDir(dir)
	return b.has(dir, "HEAD") && (err != nil || b.hasObjects(common))
}
