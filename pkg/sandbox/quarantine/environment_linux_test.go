package quarantine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// many is a script that makes environment files.
func many(dir string, count int) string {
	return "mkdir -p " + dir + "; for i in $(seq " + strconv.Itoa(count) + "); do echo $i > " + dir + "/.env.$i; done\n"
}

// files counts the environment files in a directory.
func (w *workspace) files(dir string) int {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, dir, ".env*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list)
}

func TestEnvironmentFiles(t *testing.T) {
	w := newWorkspace(t)
	w.sh("echo mine > .env;" + many("mine", 50))
	s := Begin(t.Context(), w.Scope)
	w.sh(many("made", 20) + many("node_modules/x", 400) + "ln -s made/.env.1 .env.link; echo > .env.example; for i in $(seq 400); do echo > .env.example.$i; done")
	w.finds(s.Finish(t.Context()))
	w.sh(many("made", 400))
	found := s.Finish(t.Context())
	if len(found) != 1 || found[0].Err != nil || found[0].Path != w.dir {
		t.Fatalf("%+v", found)
	}
	kept, err := filepath.Glob(found[0].Aside + "/made/.env.*")
	if left := w.files("made"); err != nil || left+len(kept) != 400 || left != MostEnvironment-53 || found[0].More != 198 { // 51 files were there, and two directories take a mount; the link is the oldest
		t.Errorf("%d left, %d put aside: %+v", left, len(kept), found)
	}
	if w.text(".env") != "mine\n" || w.files("mine") != 50 {
		t.Error("the person's are gone")
	}
	next := Begin(t.Context(), w.Scope)
	w.sh("echo > made/.env.more")
	if found := next.Finish(t.Context()); len(found) != 1 || w.files("made") != MostEnvironment-53 {
		t.Errorf("%+v", found)
	}
}

// TestEnvironmentFilesOfAKilledRun: they are put aside before the next run is planned.
func TestEnvironmentFilesOfAKilledRun(t *testing.T) {
	w := journaled(t)
	w.sh("echo mine > .env")
	s := Begin(t.Context(), w.Scope)
	w.sh(many("made", 400))
	w.killed(s)
	w.sh("echo late > .env.late")
	if found := Recover(t.Context(), w.Journals, w.Scope); len(found) != 1 || found[0].Err != nil {
		t.Errorf("%+v", found)
	}
	if left := w.files("made"); left > MostEnvironment || w.files(".") != 2 {
		t.Errorf("%d left, %d", left, w.files("."))
	}
}

// TestEnvironmentFilesThatGitHas: they are not hidden, so they take nobody's place.
func TestEnvironmentFilesThatGitHas(t *testing.T) {
	w := newWorkspace(t)
	w.Committed = func(paths []string) map[string]bool {
		held := map[string]bool{}
		for _, path := range paths {
			held[path] = strings.Contains(path, "/held/")
		}
		return held
	}
	s := Begin(t.Context(), w.Scope)
	w.sh(many("held", 400) + many("made", 100))
	w.finds(s.Finish(t.Context()))
	s = Begin(t.Context(), w.Scope)
	w.sh("echo > made/.env.more")
	w.finds(s.Finish(t.Context()))
}

// TestLinksNamedLikeEnvironmentFiles: the next run would hide what they lead to, which a command must not choose.
func TestLinksNamedLikeEnvironmentFiles(t *testing.T) {
	w := newWorkspace(t)
	w.sh("mkdir settings; echo > settings/local; echo > settings/.env; echo > settings/.env.example; echo > main.go; ln -s settings/local .env")
	s := Begin(t.Context(), w.Scope)
	w.sh("ln -s main.go .env.1; ln -s ../main.go settings/.env.2; ln -s settings/.env .env.3; ln -s settings/.env.example .env.4")
	found := s.Finish(t.Context())
	if len(found) != 1 || found[0].More != 2 {
		t.Fatalf("%+v", found)
	}
	for name, stays := range map[string]bool{".env": true, ".env.1": false, "settings/.env.2": false, ".env.3": true, ".env.4": true} {
		if _, err := os.Lstat(filepath.Join(w.dir, name)); (err == nil) != stays || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEnvironmentFilesWithoutAStore: where nothing can be put into the store, they get another name.
func TestEnvironmentFilesWithoutAStore(t *testing.T) {
	w := newWorkspace(t)
	w.Kept = "closed/none/kept"
	s := Begin(t.Context(), w.Scope)
	w.sh(many("made", 400))
	s.Finish(t.Context())
	all, err := os.ReadDir(filepath.Join(w.dir, "made"))
	if left := w.files("made"); err != nil || left > MostEnvironment || len(all) != 400 {
		t.Errorf("%d of %d left, %v", left, len(all), err)
	}
}
