package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/gitguard"
	"ethos/pkg/sandbox"
)

// usualGits lists where git is looked for in addition to PATH, because some programs know it by its
// path.
var usualGits = []string{"/usr/local/bin/git", "/usr/bin/git", "/bin/git", "/opt/git/bin/git", "/snap/bin/git"}

// managedGit finds what managed git needs: the ethos-git and ethos-decide in this program's
// directory, and every git that the command could name. Without a git on the machine there is
// nothing to manage.
func managedGit(sys *cli.System, workspace string) (sandbox.ManagedGit, error) {
	var none sandbox.ManagedGit
	g := sandbox.ManagedGit{}
	var err error
	if g.Program, g.Decide, g.CEL, err = siblings(); err != nil {
		return none, unmanaged(err)
	}
	self, err := gitguard.IdentityOf(g.Program)
	if err != nil {
		return none, unmanaged(err)
	}
	names := gits(sys.Getenv("PATH"), self, workspace)
	if len(names) == 0 {
		return none, nil
	}
	found, err := gitguard.Find(gitguard.Search{Self: self, Path: dirs(names), Explicit: sys.Getenv("ETHOS_REAL_GIT"), Forbid: workspace, NoShims: true})
	if err != nil {
		return none, unmanaged(err)
	}
	if g.Real, err = filepath.EvalSymlinks(found.Path); err != nil {
		return none, unmanaged(err)
	}
	g.Over = names
	return g, nil
}

// unmanaged returns the refusal for a shell whose git nobody would manage.
func unmanaged(err error) error {
	return cli.Errorf(cli.Refused, "install ethos-git and ethos-decide beside ethos-sandbox, or use --plain-git: then no policy applies to git inside, and only the boundary protects", "managed git: %w", err)
}

func selfPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}

// siblings returns the real paths of ethos's programs in this program's directory. cel is "" where
// ethos-decide was built as one program.
func siblings() (git, decide, cel string, err error) {
	self, err := selfPath()
	if err != nil {
		return "", "", "", err
	}
	git, err = filepath.EvalSymlinks(filepath.Join(filepath.Dir(self), "ethos-git"))
	if err == nil {
		decide, err = filepath.EvalSymlinks(filepath.Join(filepath.Dir(self), "ethos-decide"))
	}
	if err == nil {
		cel, err = filepath.EvalSymlinks(filepath.Join(filepath.Dir(decide), "ethos-cel"))
		if errors.Is(err, fs.ErrNotExist) {
			cel, err = "", nil
		}
	}
	return git, decide, cel, err
}

// gits returns the real paths of git, found by name on path or in a usual place. A link to a
// program with another name does not count: that program is more than git, and looks for git on
// PATH itself.
func gits(path string, self gitguard.Identity, workspace string) []string {
	var list []string
	for dir := range strings.SplitSeq(path, string(os.PathListSeparator)) {
		if filepath.IsAbs(dir) {
			list = append(list, filepath.Join(dir, "git"))
		}
	}
	var found []string
	for _, name := range append(list, usualGits...) {
		real, err := filepath.EvalSymlinks(name)
		if err != nil || filepath.Base(real) != "git" || slices.Contains(found, real) || real == workspace || strings.HasPrefix(real, workspace+"/") {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !self.Is(info) {
			found = append(found, real)
		}
	}
	return found
}

func dirs(files []string) string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = filepath.Dir(f)
	}
	return strings.Join(list, string(os.PathListSeparator))
}
