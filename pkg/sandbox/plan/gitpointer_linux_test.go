package plan

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// pointers are what a .git file or a commondir may say, put together at random.
var pointers = struct{ before, path, after []string }{
	before: []string{"", "", "", "./", "../w/", strings.Repeat("./", 500), strings.Repeat("./", 10_000), "/", "$W/", "hop/../", "$W/sub/hop/../"},
	path:   []string{"../target", "../bare.git", "../hop/../target", "../hop/../bare.git", "target", "../none", "..", "", " ../target", "../link", "../target/../bare.git", "../bare.git/"},
	after: []string{"", "\n", "\r\n", "\n\n", "\n\r\n", "\x00", "\x00garbage\n", "\n\x00", " ", strings.Repeat("\n", 20_000), strings.Repeat("\n", 70_000), "\nmore",
		"\x00" + strings.Repeat("x", 100_000)},
}

func randomPointer(r *rand.Rand, work string) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	return strings.ReplaceAll(pick(pointers.before)+pick(pointers.path)+pick(pointers.after), "$W", work)
}

// TestPointersAgainstGit holds that a pointer that git follows leads to the same
// directory here.
func TestPointersAgainstGit(t *testing.T) {
	shorttest.Long(t)
	probetest.Need(t, "command:git")
	spec := emptySpace(t)
	shell(t, spec, `mkdir sub far far/away away away/target; git init -q --bare bare.git; git init -q --bare target; git init -q --bare far/target; git init -q --bare far/bare.git
		ln -s far/away hop; ln -s ../far/away sub/hop; ln -s target link; git init -q split; git -C split -c user.name=a -c user.email=a commit -q --allow-empty -m x; rm -rf split/.git/objects split/.git/refs`)
	b := &builder{spec: spec, files: newResolver(HostFiles{})}
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = filepath.Join(spec.Workspace, dir), append(spec.Environ, "GIT_CEILING_DIRECTORIES="+spec.Workspace)
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		real, err := filepath.EvalSymlinks(resolved(cmd.Dir, strings.TrimSuffix(string(out), "\n")))
		if err != nil {
			t.Fatal(err)
		}
		return real
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	r, followed := rand.New(rand.NewPCG(seed, seed)), 0
	for range 150 {
		text := randomPointer(r, spec.Workspace)
		write(t, filepath.Join(spec.Workspace, "sub/.git"), "gitdir: "+text)
		write(t, filepath.Join(spec.Workspace, "split/.git/commondir"), text)
		if want := git("sub", "rev-parse", "--git-dir"); want != "" {
			followed++
			if got, ok := b.gitFile(filepath.Join(spec.Workspace, "sub/.git")); !ok || got != want || !b.isGitDir(got) {
				t.Errorf("gitdir %.60q (%d bytes): git goes to %s, here %s %v", text, len(text), want, got, ok)
			}
		}
		if want := git("split", "rev-parse", "--git-common-dir"); want != "" {
			followed++
			if got, linked, err := b.commonDir(filepath.Join(spec.Workspace, "split/.git")); err != nil || !linked || got != want || !b.isGitDir(filepath.Join(spec.Workspace, "split/.git")) {
				t.Errorf("commondir %.60q (%d bytes): git goes to %s, here %s %v %v", text, len(text), want, got, linked, err)
			}
		}
	}
	if followed == 0 {
		t.Error("git followed none of them")
	}
	t.Logf("git followed %d of 300", followed)
}

func resolved(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

// TestLargePointers: git reads 1 MiB of a .git file, and so much as there is of a
// commondir.
func TestLargePointers(t *testing.T) {
	spec := emptySpace(t)
	b := &builder{spec: spec, files: newResolver(HostFiles{})}
	if err := os.Mkdir(filepath.Join(spec.Workspace, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(spec.Workspace, ".git"), "gitdir: d"+strings.Repeat("\n", maxFile-9))
	if dir, ok := b.gitFile(filepath.Join(spec.Workspace, ".git")); !ok || filepath.Base(dir) != "d" {
		t.Errorf("%s %v", dir, ok)
	}
	write(t, filepath.Join(spec.Workspace, "d/commondir"), strings.Repeat("./", maxFile))
	if _, _, err := b.commonDir(filepath.Join(spec.Workspace, "d")); err == nil {
		t.Error("a file that is not read to its end says something")
	}
}

// emptySpace is a spec for a work space of its own, with a home directory beside
// it.
func emptySpace(t *testing.T) Spec {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"w", "home"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return Spec{Workspace: filepath.Join(base, "w"), Environ: []string{"HOME=" + filepath.Join(base, "home"), "PATH=/usr/bin:/bin", "LANG=C"}}
}

func shell(t *testing.T, spec Spec, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = spec.Workspace, spec.Environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
