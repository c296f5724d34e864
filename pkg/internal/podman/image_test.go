//go:build podman && linux

package podman

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ethos/pkg/internal/lab"
)

const root = "../../.." // of the repository

// remoteHTTP is git's client for https.
const remoteHTTP = "/usr/lib/git-core/git-remote-http"

// makeImage imports the image, unless the store has one of the same content, and returns its name.
func (e *engine) makeImage() (string, error) {
	tree, err := lab.Userland("curl", "iproute2", remoteHTTP, "/usr/bin/getent")
	if err != nil {
		return "", err
	}
	tree.Link(remoteHTTP+"s", filepath.Base(remoteHTTP))
	tree.Link("usr/bin/git-upload-pack", "git")
	tree.File("etc/nsswitch.conf", 0o644, []byte("passwd: files\ngroup: files\nhosts: files dns\n"))
	tree.File("etc/resolv.conf", 0o644, nil) // a test mounts one here
	const bundle = "/etc/ssl/certs/ca-certificates.crt"
	if err := tree.Tree(bundle, bundle); err != nil {
		return "", fmt.Errorf("apt-get install ca-certificates: %w", err)
	}
	var text bytes.Buffer
	if err := tree.WriteTar(&text); err != nil {
		return "", err
	}
	name := fmt.Sprintf("localhost/ethos-test:%.12x", sha256.Sum256(text.Bytes()))
	if e.command("image", "exists", name).Run() == nil {
		return name, nil
	}
	cmd := e.command("import", "--quiet", "-", name)
	cmd.Stdin = &text
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("import the image: %w: %s", err, out)
	}
	return name, nil
}

// tested are the packages whose test programs run in containers.
var tested = []string{"pkg/internal/escapes", "pkg/internal/egressclients", "pkg/egress"}

// built is the directory of the programs (programs), and of the test programs with what they read (src). It is no t.TempDir, which other users cannot
// search: those of rootless containers are others.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "ethos-podman-"); err != nil {
		return "", err
	}
	builtDir = dir
	builds := [][]string{{"build", "-o", dir + "/programs/", "./cmd/..."}}
	for _, pkg := range tested {
		to := filepath.Join(dir, "src", pkg)
		builds = append(builds, []string{"test", "-c", "-o", filepath.Join(to, "test"), "./" + pkg})
		if err := copyDir(filepath.Join(to, "testdata"), filepath.Join(root, pkg, "testdata")); err != nil {
			return dir, err
		}
	}
	for _, name := range []string{"testdata", "docs"} {
		if err := copyDir(filepath.Join(dir, "src", name), filepath.Join(root, name)); err != nil {
			return dir, err
		}
	}
	for _, words := range builds {
		cmd := exec.Command("go", append([]string{words[0], "-trimpath", "-ldflags=-s -w"}, words[1:]...)...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go %s: %w: %s", strings.Join(words, " "), err, out)
		}
	}
	out, err := exec.Command("chmod", "-R", "a+rX", dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("chmod: %w: %s", err, out)
	}
	return dir, err
})

// builtDir is the same directory from the time that it is there.
var builtDir string

// copyDir copies a directory that may be missing.
func copyDir(to, from string) error {
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.CopyFS(to, os.DirFS(from))
}

// programs are the mounts of what was built.
func programs(t *testing.T) []string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--volume", dir + "/programs:/ethos:ro", "--volume", dir + "/src:/src:ro"}
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(builtDir)
	os.Exit(status)
}
