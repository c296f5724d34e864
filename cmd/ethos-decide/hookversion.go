//go:build !nocel

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/hook/setup"
	"ethos/pkg/lazy"
	"ethos/pkg/timerslack"
)

func lookPath(sys *cli.System, name string) (string, error) {
	for _, dir := range filepath.SplitList(sys.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// unfound says which of the programs that a hook names are not on the PATH, or
// returns "".
func unfound(sys *cli.System) string {
	var missing []string
	for _, name := range []string{"ethos-facts", "ethos-decide"} {
		if _, err := lookPath(sys, name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return strings.Join(missing, " and ") + " cannot be found on the PATH: as long as that is so for the agent, too, each of its calls is blocked."
}

// versionTime is the time limit for an agent to print its version.
const versionTime = 20 * time.Second

var versionNumber = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+`) }}

// errSilent says that a program printed no readable version.
var errSilent = errors.New("it said no version")

// versionOf asks the installed agent for its version, if a version that obeys
// the hook is known.
func versionOf(ctx context.Context, sys *cli.System, a setup.Agent) (string, error) {
	path, err := lookPath(sys, a.Program)
	if err != nil || a.Tested == "" {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	home, err := os.MkdirTemp("", "ethos-version-") // some agents write to it before they print anything
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"PATH=" + sys.Getenv("PATH"), "HOME=" + home}, home, time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err = timerslack.Start(cmd.Run)
	have := versionNumber.Get().FindString(out.String())
	if err != nil || have == "" {
		return "", errSilent
	}
	return have, nil
}

// versionNote describes what is known about the installed version.
func versionNote(a setup.Agent, have string, err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return a.Program + " is not on the PATH: its version was not checked."
	case a.Tested == "":
		return "No version of it is known to obey the hook: after its first call, ethos-decide hook status shows whether it has asked."
	case errors.Is(err, errSilent):
		return fmt.Sprintf("%s --version printed no version; %s and later obey the hook (%s).", a.Program, a.Tested, a.By)
	case err != nil:
		return err.Error()
	case older(have, a.Tested):
		return fmt.Sprintf("%s is %s; only %s and later are known to obey the hook, from %s. Update it.", a.Program, have, a.Tested, a.By)
	}
	return fmt.Sprintf("%s is %s; %s and later are known to obey the hook, from %s.", a.Program, have, a.Tested, a.By)
}

// older compares dotted version numbers.
func older(a, b string) bool {
	number := func(parts []string, i int) int {
		if i >= len(parts) {
			return 0
		}
		n, err := strconv.Atoi(parts[i])
		if errors.Is(err, strconv.ErrRange) {
			return int(^uint(0) >> 1)
		}
		return n
	}
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if p, q := number(x, i), number(y, i); p != q {
			return p < q
		}
	}
	return false
}
