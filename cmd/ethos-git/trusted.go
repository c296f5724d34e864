package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
)

// trusted keeps what git may run by itself in a work tree beside its trace store, where no confined command comes.
type trusted struct{}

const (
	trustedDir  = "trusted"
	trustedFile = "git"
	// trustedHead is its first line; an entry is a line of its own.
	trustedHead = "ethos trusted git 1"
	// maxTrusted bounds the file; a repository has some dozens of hooks and settings.
	maxTrusted = 1 << 20
)

// Load implements gitguard.Trusted.
func (trusted) Load(root string) (list []string, known bool, err error) {
	f, err := os.Open(filepath.Join(filepath.Dir(trace.DefaultDir(root)), trustedDir, trustedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTrusted))
	if err != nil {
		return nil, true, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != trustedHead {
		return nil, true, fmt.Errorf("read %s: it does not begin with %q", f.Name(), trustedHead)
	}
	return lines[1:], true, nil
}

// Save implements gitguard.Trusted.
func (trusted) Save(root string, list []string) error {
	dir, err := trace.Beside(root, trustedDir)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, trustedFile)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(strings.Join(append([]string{trustedHead}, list...), "\n") + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, trustedFile))
}

type trustCmd struct{}

// Run implements the command.
func (*trustCmd) Run(_ context.Context, sys *cli.System) error {
	g, err := newGuard(sys)
	if err != nil {
		return err
	}
	added, err := g.Trust(sys.Dir, sys.Getenv)
	if err != nil {
		return cli.Errorf(cli.Refused, "run it in the work tree of the repository, outside of any sandbox", "trust: %w", err)
	}
	for _, entry := range added {
		if _, err := fmt.Fprintln(sys.Stdout, entry); err != nil {
			return err
		}
	}
	return nil
}
