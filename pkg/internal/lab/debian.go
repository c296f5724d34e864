package lab

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packages lists the Debian packages whose programs a guest gets from the machine that builds it.
// The confined commands of the tests are written for them.
var packages = []string{"bash", "coreutils", "dash", "dbus-daemon", "diffutils", "findutils", "git", "grep", "mount", "procps", "sed", "util-linux"}

// libraryDirs lists where Debian keeps shared libraries: ld.so(8).
var libraryDirs = []string{"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"}

// debian adds the programs of the packages, and those at absolute paths, with the libraries that
// they load. Names that are symbolic links stay with busybox.
func (a *Archive) debian(packages []string) error {
	for _, name := range packages {
		if path.IsAbs(name) {
			if err := errors.Join(a.Tree(name, name), a.libraries(name)); err != nil {
				return err
			}
			continue
		}
		files, err := exec.Command("dpkg-query", "--listfiles", name).Output()
		if err != nil {
			return fmt.Errorf("programs of a guest: apt-get install %s: %w", name, err)
		}
		for file := range strings.Lines(string(files)) {
			if err := a.program(strings.TrimSpace(file)); err != nil {
				return fmt.Errorf("programs of package %s: %w", name, err)
			}
		}
	}
	a.Link("usr/bin/sh", "dash")
	return a.Tree("usr/share/git-core/templates", "/usr/share/git-core/templates")
}

// program adds a file if it is a program on PATH, else it does nothing.
func (a *Archive) program(file string) error {
	if !slices.Contains([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin"}, path.Dir(file)) {
		return nil
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return err
	}
	name := "usr/bin/" + path.Base(file)
	if err := a.Tree(name, file); err != nil {
		return err
	}
	return a.libraries(file)
}

// libraries adds what a dynamic program loads, recursively.
func (a *Archive) libraries(file string) error {
	f, err := elf.Open(file)
	if bad := (*elf.FormatError)(nil); errors.As(err, &bad) {
		return nil // a script
	}
	if err != nil {
		return err
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if s := f.Section(".interp"); s != nil {
		text, err := s.Data()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		needed = append(needed, strings.TrimRight(string(text), "\x00"))
	}
	for _, library := range needed {
		if err := a.library(library); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// library adds one library by its soname or path.
func (a *Archive) library(name string) error {
	if !path.IsAbs(name) {
		i := slices.IndexFunc(libraryDirs, func(dir string) bool { return exists(filepath.Join(dir, name)) })
		if i < 0 {
			return fmt.Errorf("library %s: %w", name, fs.ErrNotExist)
		}
		name = filepath.Join(libraryDirs[i], name)
	}
	to := "usr/" + strings.TrimPrefix(strings.TrimPrefix(name, "/"), "usr/")
	if _, have := a.entries[to]; have {
		return nil
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	if err := a.Tree(to, real); err != nil {
		return err
	}
	return a.libraries(real)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
