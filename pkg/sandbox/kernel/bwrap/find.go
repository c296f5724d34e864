package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/timerslack"
)

// Program is a bubblewrap that was found.
type Program struct {
	Path    string // without links
	Version string
	Setuid  bool // it is root's, with the set-user-ID bit: it needs no user namespace
}

// Oldest is the oldest version that has every option used here.
var Oldest = [2]int{0, 8}

// Find returns the bwrap of the first directory of a PATH that nobody but root
// can change, outside of the given directories, which are those that confined
// commands can write. Entries of PATH that are empty or relative are skipped,
// because they mean another place in each working directory. Links are followed
// before the check. If no program is usable, the error says why each one that
// was found is not. Whoever can write to a directory of PATH can put a program
// there that the caller would run with its own rights, before there is any
// boundary.
func Find(ctx context.Context, path string, outside []string) (Program, error) {
	var skipped error
	for _, dir := range filepath.SplitList(path) {
		link := filepath.Join(dir, "bwrap")
		found, err := filepath.EvalSymlinks(link)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		p := Program{Path: found}
		if err = held(dir, link, outside); err == nil { // a link there names any program of root
			p.Setuid, err = trusted(found, outside)
		}
		if err == nil {
			p.Version, err = version(ctx, found)
		}
		if err != nil {
			skipped = errors.Join(skipped, err)
			continue
		}
		return p, nil
	}
	if skipped != nil {
		return Program{}, fmt.Errorf("bubblewrap: %w", skipped)
	}
	return Program{}, errors.New("bubblewrap is not installed: there is no bwrap on PATH")
}

// trusted refuses a program that somebody other than root could replace or
// change, because bubblewrap makes the namespaces and mounts on which the
// boundary rests. It checks the directories up to the root too: whoever can
// write one of them can put another program there. What only root can change
// cannot change between this check and the start either. The set-user-ID bit
// counts only for a file of root, which is what held checks.
func trusted(path string, outside []string) (setuid bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return false, fmt.Errorf("%s is not an executable file", path)
	}
	return info.Mode()&fs.ModeSetuid != 0, held(path, path, outside)
}

// held returns an error if somebody other than root could change a path or a
// directory above it. The error is about what: the program, or a link that
// leads to one. The sticky bit is no excuse: in a directory like /tmp, others
// may still add names, and its owner may remove any. Access control lists need
// no look of their own, because their mask shows in the group bits: acl(5).
func held(path, what string, outside []string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, dir := range outside {
		if mount.Within(path, dir) {
			return fmt.Errorf("%s is not used, because confined commands write to %s", what, dir)
		}
	}
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok || st.Uid != 0:
			return fmt.Errorf("%s is not used, because %s does not belong to root", what, at)
		case info.Mode().Perm()&0o022 != 0:
			return fmt.Errorf("%s is not used, because others can write to %s", what, at)
		}
		if at == "/" {
			return nil
		}
	}
}

// answerLimit is how long the program may take to say its version.
const answerLimit = 10 * time.Second

// version asks the program for its version: "bubblewrap 0.8.0". The program
// gets no variables, so that none can make its loader run other code: ld.so(8).
// A program with the set-user-ID bit runs as root here already, which is why it
// must be trusted before.
func version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{}
	var text bytes.Buffer
	cmd.Stdout = &text
	err := timerslack.Start(cmd.Run)
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	number, ok := strings.CutPrefix(strings.TrimSpace(text.String()), "bubblewrap ")
	if !ok {
		return "", fmt.Errorf("%s is not bubblewrap: it says %.40q", path, text.String())
	}
	if !recent(number) {
		return "", fmt.Errorf("%s is version %q, and not %d.%d or newer", path, number, Oldest[0], Oldest[1])
	}
	return number, nil
}

// recent reports whether a version is at least [Oldest].
func recent(version string) bool {
	var have []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		have = append(have, n)
	}
	return len(have) >= 2 && slices.Compare(have, Oldest[:]) >= 0
}
