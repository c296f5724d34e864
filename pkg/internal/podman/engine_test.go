//go:build podman && linux

package podman

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// cacheVariable names the directory that keeps the image, instead of ethos-test/podman in the user's cache.
const cacheVariable = "ETHOS_TEST_PODMAN"

// patience is how long a container may take.
const patience = 20 * time.Minute

// engine is podman with a store of its own.
type engine struct {
	global []string // options before the command
	image  string
}

// theEngine is the engine with its image, made on first use.
var theEngine = sync.OnceValues(func() (*engine, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, runtime := range []string{"crun", "runc"} {
		if _, err := exec.LookPath(runtime); err != nil {
			faults = append(faults, err.Error())
			continue
		}
		e := &engine{global: []string{"--root", filepath.Join(cache, "store"), "--runroot", filepath.Join(cache, "run"), "--tmpdir", filepath.Join(cache, "tmp"), "--cgroup-manager", "cgroupfs", "--runtime", runtime}}
		if e.image, err = e.makeImage(); err != nil {
			return nil, err
		}
		out, err := e.container(nil, "root", "true").CombinedOutput()
		if err == nil {
			return e, nil
		}
		faults = append(faults, fmt.Sprintf("%s: %v: %s", runtime, err, strings.TrimSpace(string(out))))
	}
	return nil, fmt.Errorf("no container starts: %s", strings.Join(faults, "; "))
})

// cacheDir is what containers of every user can search.
func cacheDir() (string, error) {
	dir := os.Getenv(cacheVariable)
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "ethos-test", "podman")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// needPodman skips where no container can be started.
func needPodman(t *testing.T) *engine {
	t.Helper()
	var e *engine
	probetest.NeedFunc(t, "podman", func() string {
		if _, err := exec.LookPath("podman"); err != nil {
			return err.Error()
		}
		var err error
		if e, err = theEngine(); err != nil {
			return err.Error()
		}
		return ""
	})
	return e
}

func (e *engine) command(args ...string) *exec.Cmd {
	cmd := exec.Command("podman", slices.Concat(e.global, args)...)
	cmd.Dir = "/"
	return cmd
}

// container is a command in a new container that is removed when it has ended.
func (e *engine) container(options []string, user string, argv ...string) *exec.Cmd {
	home := "/root"
	if user != "root" {
		home = "/home/user"
	}
	args := []string{"run", "--rm", "--ulimit", "nofile=4096:8192", "--ulimit", "nproc=4096:4096", "--user", user, "--env", "HOME=" + home, "--env", "PATH=/ethos:/usr/bin"}
	if !slices.Contains(options, "--network") {
		args = append(args, "--network", "none")
	}
	return e.command(slices.Concat(args, options, []string{e.image}, argv)...)
}

// output runs a command with the patience of the tests.
func output(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	bound := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	bound.Dir, bound.Env = cmd.Dir, cmd.Env
	out, err := bound.CombinedOutput()
	return string(out), err
}
