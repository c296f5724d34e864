// Package released builds the programs as they are released, for tests that run
// them. A program built by go build alone has another entry point, and hands
// nothing over to another one.
package released

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Root is the root of the module, for a test in a folder of pkg/internal.
const Root = "../../.."

// shared is where go build finds what it has linked for another test, below Root.
const shared = "build/released"

// Build builds the programs into a directory with packaging/build. The variables
// are added to its environment. Without variables it copies them from a folder that
// tests share, so that only what has changed is linked again.
//
// It reads the folders of the sources, so that go test notices when one has
// changed and does not repeat an earlier result.
func Build(dir string, variables ...string) error {
	for _, folder := range []string{"cmd", "pkg", "packaging"} {
		err := filepath.WalkDir(filepath.Join(Root, folder), func(string, fs.DirEntry, error) error { return nil })
		if err != nil {
			return err
		}
	}
	if len(variables) > 0 {
		return build(dir, variables...)
	}
	from := filepath.Join(Root, shared)
	unlock, err := lock(from)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return build(dir) // the sources are another user's
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := build(from); err != nil {
		return err
	}
	return Copy(dir, from+"/.")
}

// Copy copies a program, or a directory of programs, with cp(1). If this process
// wrote it, a fork for another test could keep it open for writing, and execve(2)
// fails with ETXTBSY then.
func Copy(to, from string) error {
	if out, err := exec.Command("cp", "-r", "--", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w\n%s", from, err, out)
	}
	return nil
}

// lock makes a folder, and waits until no other test builds into it.
func lock(folder string) (unlock func() error, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(folder+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

func build(dir string, variables ...string) error {
	dir, err := filepath.Abs(dir) // packaging/build goes to Root
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(Root, "packaging/build"), dir, "-trimpath")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), variables...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}
