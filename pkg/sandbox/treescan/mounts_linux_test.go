package treescan

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
)

// ownMounts runs a test again in a mount namespace of its own, and reports whether
// this is that run. Mounts end with it.
func ownMounts(t *testing.T) bool {
	probetest.Need(t, probetest.Root)
	const name = "ETHOS_TEST_OWN_MOUNTS"
	if os.Getenv(name) == t.Name() {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// TestMountsInTheTree puts file systems over directories that the memory knows.
func TestMountsInTheTree(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	s := newSite(t)
	t.Cleanup(func() { syscall.Unmount(s.in("c"), syscall.MNT_DETACH) })
	s.mkdir("root/a/b/.git", "root/c", "other/.git")
	other := s.in("other")
	s.dir = s.in("root")
	s.remember()
	s.ok(syscall.Mount(other, s.in("c"), "", syscall.MS_BIND, ""))
	s.finds(s.agrees(), "a/b/.git", "c/.git")
	s.remember()
	s.ok(syscall.Unmount(s.in("c"), 0))
	s.finds(s.agrees(), "a/b/.git")
	s.remember()
	s.ok(syscall.Mount("none", s.in("a"), "tmpfs", 0, ""))
	s.finds(s.agrees())
	s.mkdir("a/x/.git")
	s.remember()
	s.finds(s.agrees(), "a/x/.git")
	s.ok(syscall.Unmount(s.in("a"), 0))
	s.ok(syscall.Mount(s.dir, s.in("c"), "", syscall.MS_BIND|syscall.MS_REC, "")) // the tree in itself
	s.finds(s.agrees(), "a/b/.git", "c/a/b/.git")
	s.remember()
	s.finds(s.agrees(), "a/b/.git", "c/a/b/.git")
}

// needLoop is for tests that mount a file.
func needLoop(t *testing.T) {
	probetest.Need(t, probetest.Root, "command:mkfs.ext4")
	probetest.NeedFunc(t, "loop", func() string {
		if _, err := os.Stat("/dev/loop-control"); err != nil {
			return err.Error()
		}
		return ""
	})
}

// onExt4 mounts an ext4 file system of its own kind.
func onExt4(t *testing.T, options ...string) *site {
	image := filepath.Join(t.TempDir(), "image")
	dir := t.TempDir()
	for _, argv := range [][]string{
		append(append([]string{"mkfs.ext4", "-q"}, options...), image, "4m"),
		{"mount", "-o", "loop", image, dir},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	return siteAt(t, dir)
}

// TestWholeSeconds: on a file system without nanoseconds a directory can change
// twice at the same time.
func TestWholeSeconds(t *testing.T) {
	needLoop(t)
	if !ownMounts(t) {
		return
	}
	s := onExt4(t, "-I", "128")
	s.mkdir("a")
	for range 20 {
		s.file("a/x")
		s.ok(s.scan().Save())
		s.file("a/.git")
		s.finds(s.agrees(), "a/.git")
		s.ok(s.scan().Save())
		s.ok(os.Remove(s.in("a/.git")))
		s.finds(s.agrees())
		s.ok(os.Remove(s.in("a/x")))
	}
}

// TestTypesAreAskedFor: a file system need not tell types in getdents64(2).
func TestTypesAreAskedFor(t *testing.T) {
	needLoop(t)
	if !ownMounts(t) {
		return
	}
	s := onExt4(t, "-I", "256", "-O", "^filetype")
	s.mkdir("a/b/.git")
	s.ok(os.Symlink("..", s.in("a/link")))
	s.ok(syscall.Mknod(s.in("a/socket"), syscall.S_IFSOCK|0o644, 0))
	for range 3 {
		s.finds(s.agrees(), "a/socket", "a/b/.git")
		s.ok(s.scan().Save())
	}
}

// TestFileSystemsWithoutMemory: overlayfs joins directories that change unseen.
func TestFileSystemsWithoutMemory(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	s := newSite(t)
	top := s.dir
	t.Cleanup(func() { syscall.Unmount(top, syscall.MNT_DETACH) })
	s.ok(syscall.Mount("none", s.dir, "tmpfs", 0, ""))
	s.mkdir("lower/a", "upper/a", "work", "merged")
	s.ok(syscall.Mount("none", s.in("merged"), "overlay", 0, "lowerdir="+s.in("lower")+",upperdir="+s.in("upper")+",workdir="+s.in("work")))
	lower := s.in("lower")
	s.dir = s.in("merged")
	s.coarse = func() timestamp { return timestamp{sec: 1 << 40} } // everything has come to rest
	s.ok(s.scan().Save())
	s.ok(os.Mkdir(filepath.Join(lower, "a/.git"), 0o755))
	tree := s.agrees()
	if tree.Listed != tree.Dirs {
		t.Errorf("%d of %d listed", tree.Listed, tree.Dirs)
	}
	s.finds(tree, "a/.git")
}
