package gitguard

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/timerslack"
)

// versionDeadline is how long git may take to print its version.
const versionDeadline = 10 * time.Second

// version asks git for its version. It runs without the caller's variables for git, and outside of
// any repository.
func (p Program) version(ctx context.Context, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, "version")
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	cmd.Env = p.environ(slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "GIT_") }))
	var out bytes.Buffer
	cmd.Stdout = &out
	err := timerslack.Start(cmd.Run)
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", p.Path, err)
	}
	for line := range strings.Lines(out.String()) { // a shim may print lines of its own
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "git version "); ok {
			return version, nil
		}
	}
	return "", fmt.Errorf("ask %s for its version: it says %.40q", p.Path, out.String())
}

// The first versions of git that do not enter a repository of another owner, or a bare one under
// safe.bareRepository; see their release notes.
const (
	sinceOwner = "2.35.2"
	sinceBare  = "2.38.0"
)

// leavesAlone makes sure that git does not enter a repository that ethos-git has not entered. A git
// that is too old to check would.
func (p Program) leavesAlone(ctx context.Context, l *looked) error {
	if !l.repo.Unsafe {
		return nil
	}
	since := sinceOwner
	if l.repo.Bare {
		since = sinceBare
	}
	version, err := p.version(ctx, l.call.Environ)
	hint := "use git " + since + " or newer"
	switch {
	case err != nil:
		return refuse(hint, "%v", err)
	case older(version, since):
		return refuse(hint, "git %s does not look at whose repository it enters, and this one is not safe to enter", version)
	}
	return nil
}

// older reports whether one version of git precedes another. A part that is not a number, as in
// 2.52.0.rc1, counts as the lowest.
func older(version, since string) bool {
	have := strings.Split(version, ".")
	for i, want := range strings.Split(since, ".") {
		least, _ := strconv.Atoi(want)
		n := 0
		if i < len(have) {
			n, _ = strconv.Atoi(have[i])
		}
		if n != least {
			return n < least
		}
	}
	return false
}
