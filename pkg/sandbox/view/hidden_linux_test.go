package view

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// TestTouched holds what counts as a trace of a move in the upper layer.
func TestTouched(t *testing.T) {
	probetest.Need(t, probetest.Root) // to make a whiteout without an overlay
	for name, c := range map[string]struct {
		upper   func(dir string) error
		touched bool
	}{
		"nothing":                  {func(string) error { return nil }, false},
		"something beside it":      {func(dir string) error { return os.WriteFile(dir+"/b", nil, 0o600) }, false},
		"a directory on the way":   {func(dir string) error { return os.MkdirAll(dir+"/a/b", 0o700) }, false},
		"one that nobody may open": {func(dir string) error { return os.Mkdir(dir+"/a", 0) }, false},
		"a copy": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/a", 0o700), os.WriteFile(dir+"/a/.env", nil, 0o600))
		}, true},
		"a whiteout": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/a", 0o700), unix.Mknod(dir+"/a/.env", unix.S_IFCHR, 0))
		}, true},
		"a whiteout above it": {func(dir string) error { return unix.Mknod(dir+"/a", unix.S_IFCHR, 0) }, true},
		"a link above it":     {func(dir string) error { return os.Symlink("b", dir+"/a") }, true},
		"another directory above it": {func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/a", 0o700), unix.Setxattr(dir+"/a", marks+"opaque", []byte("y"), 0))
		}, true},
	} {
		layers := t.TempDir()
		v := &View{meta: meta{Layers: layers, Roots: []Root{{Path: "/w"}}, Hidden: []string{"/w/a/.env", "/elsewhere"}}}
		if err := os.MkdirAll(v.Upper(0), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := c.upper(v.Upper(0)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := v.Exposed(); (err != nil) != c.touched {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Lstat(v.Upper(0) + "/a"); name == "one that nobody may open" && (err != nil || info.Mode().Perm() != 0) {
			t.Errorf("its mode was changed: %v %v", info, err)
		}
	}
}

// TestFIFOModeFollowsNoLink: somebody puts a link in the place of a FIFO that is being made, again and again.
func TestFIFOModeFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Symlink(victim, dir+"/link") == nil {
				_ = unix.Renameat2(unix.AT_FDCWD, dir+"/link", unix.AT_FDCWD, dir+"/fifo", unix.RENAME_EXCHANGE)
				os.Remove(dir + "/link")
			}
		}
	}()
	made := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if makeFIFO(int(at.Fd()), "fifo", 0o666) == nil {
			made++
		}
		os.Remove(dir + "/fifo")
	}
	close(stop)
	<-stopped
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the other file is %v, %v", info.Mode(), err)
	}
	if made == 0 {
		t.Error("no FIFO was made")
	}
}
