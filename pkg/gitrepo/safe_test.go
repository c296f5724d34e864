package gitrepo

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// stranger is somebody to whom nothing of the tests belongs.
func stranger() *Caller { return &Caller{UID: os.Getuid() + 4321} }

// entered asks git, which is told that nothing is its own, whether it enters a repository.
func (s sandbox) entered(dir string, config ...string) bool {
	s.t.Helper()
	cmd := exec.Command("git", append(config, "rev-parse", "--git-dir")...)
	cmd.Dir = s.path(dir)
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "dubious ownership") && !strings.Contains(string(out), "safe.bareRepository") {
		s.t.Fatalf("%s", out)
	}
	return err == nil
}

// TestSafeDirectory holds what is entered to what git enters. What only later versions enter must be entered here; newer says so.
func TestSafeDirectory(t *testing.T) {
	s := newSandbox(t)
	for _, dir := range []string{"r", "o*dd"} {
		s.repository(dir)
		s.git(dir, "config", "alias.evil", "!evil")
	}
	s.git("", "clone", "-q", "--bare", "r", "bare.git")
	s.git("r", "worktree", "add", "-q", "../linked")
	s.write("r/sub/x", "")
	link(t, s.path("r"), s.home, "link")
	for _, tt := range []struct {
		dir   string
		safe  []string // values of safe.directory, in order
		want  bool
		newer bool
	}{
		{"r", nil, false, false}, {"r", []string{"*"}, true, false}, {"r", []string{"H/r"}, true, false}, {"r/sub", []string{"H/r"}, true, false},
		{"r", []string{"~/r"}, true, false}, {"r", []string{"H/r/sub"}, false, false}, {"r/sub", []string{"H/r/sub"}, false, false}, {"r", []string{"H"}, false, false},
		{"r", []string{"H/R"}, false, false}, {"r", []string{"r"}, false, false}, {"r", []string{"H/r/.git"}, false, false}, {"r", []string{"H/r", ""}, false, false},
		{"r", []string{"", "H/r"}, true, false}, {"r", []string{"*", "", "H/other"}, false, false}, {"r", []string{"H/other", "H/r"}, true, false}, {"r", []string{"H/missing"}, false, false},
		{"r", []string{"true"}, false, false}, {"r", []string{"**"}, false, false}, {"r", []string{"H/r*"}, false, false}, {"linked", []string{"H/r"}, false, false},
		{"linked", []string{"H/linked"}, true, false}, {"bare.git", []string{"H/bare.git"}, true, false}, {"bare.git/refs", []string{"H/bare.git"}, true, false},
		{"bare.git", []string{"H"}, false, false}, {"o*dd", []string{"H/o*dd"}, true, false}, {"r/.git", []string{"H/r/.git"}, true, false}, {"r/.git", []string{"H/r"}, false, false},
		{"r", []string{"H/*"}, true, true}, {"r", []string{"/*"}, true, true}, {"r", []string{"H/r/*"}, false, true}, {"r", []string{"H/link"}, true, true},
		{"r", []string{"."}, true, true}, {"r/sub", []string{"."}, false, true}, {"r", []string{"H/x/../r/"}, true, true},
	} {
		text := ""
		for _, v := range tt.safe {
			text += "[safe]\n\tdirectory = " + strconv.Quote(strings.ReplaceAll(v, "H/", s.home+"/")) + "\n"
			if v == "H" {
				text = "[safe]\n\tdirectory = " + s.home + "\n"
			}
		}
		s.write(".gitconfig", text)
		opt := s.options()
		opt.Caller = stranger()
		r, err := Open(s.path(tt.dir), opt)
		if err != nil || r.Unsafe == tt.want {
			t.Errorf("%s with %q: unsafe %v, %v", tt.dir, tt.safe, r.Unsafe, err)
		}
		if got := s.entered(tt.dir); got != tt.want && !tt.newer {
			t.Errorf("%s with %q: git enters: %v", tt.dir, tt.safe, got)
		}
		if _, believed := r.Config.Get("alias.evil"); tt.dir == "r" && believed != tt.want || r.Unsafe && (len(r.Record.Aliases) > 0 || r.Record.GitDir != "" || r.Record.Branch != "") {
			t.Errorf("%s with %q: its configuration is believed: %+v", tt.dir, tt.safe, r.Record)
		}
	}
}

// TestSafeScopes: the system, the user and the command say what is safe; the repository does not.
func TestSafeScopes(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	open := func(opt Options) *Repository {
		t.Helper()
		opt.Home = s.home
		r, err := Open(s.path("r"), opt)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	s.git("r", "config", "safe.directory", "*")
	if r := open(Options{Caller: stranger()}); !r.Unsafe || r.Record.Root != s.path("r") || s.entered("r") {
		t.Errorf("by its own configuration: %+v", r)
	}
	command := stranger()
	command.Command = []Entry{{Key: "safe.directory", Value: "*"}}
	if r := open(Options{Caller: command}); r.Unsafe {
		t.Error("the command's configuration is not heeded")
	}
	s.write("system", "[safe]\n\tdirectory = *\n")
	if r := open(Options{Caller: stranger(), System: s.path("system")}); r.Unsafe {
		t.Error("the system's configuration is not heeded")
	}
	s.write("conditional", "[safe]\n\tdirectory = *\n")
	s.write(".gitconfig", "[includeIf \"gitdir:"+s.path("r")+"/\"]\n\tpath = conditional\n[include]\n\tpath = nothing\n")
	if r := open(Options{Caller: stranger()}); !r.Unsafe || s.entered("r") {
		t.Error("a condition on the repository holds")
	}
	if r := open(Options{Caller: stranger(), GitDir: ".git"}); r.Unsafe {
		t.Error("a repository that is named is not entered")
	}
	if r := open(Options{Caller: &Caller{UID: os.Getuid()}}); r.Unsafe {
		t.Error("one's own is not entered")
	}
	if r := open(Options{}); r.Unsafe {
		t.Error("without a caller: unsafe")
	}
}

// TestSafeBare holds safe.bareRepository to git. A repository of one's own suffices.
func TestSafeBare(t *testing.T) {
	s := newSandbox(t)
	s.git("", "init", "-q", "--bare", "bare.git")
	s.repository("r")
	for value, want := range map[string]bool{"explicit": false, "all": true} {
		s.write(".gitconfig", "[safe]\n\tbareRepository = "+value+"\n\tdirectory = *\n")
		opt := s.options()
		opt.Caller = &Caller{UID: os.Getuid()}
		if r, err := Open(s.path("bare.git"), opt); err != nil || r.Unsafe == want {
			t.Errorf("%s: unsafe %v, %v", value, r.Unsafe, err)
		}
		if got := s.entered("bare.git"); got != want {
			t.Errorf("%s: git enters: %v", value, got)
		}
		if r, err := Open(s.path("r"), opt); err != nil || r.Unsafe {
			t.Errorf("%s: a repository with a work tree is not entered: %v", value, err)
		}
	}
}

// TestSudo: root enters the repositories of who became root.
func TestSudo(t *testing.T) {
	probetest.Need(t, probetest.Root)
	s := newSandbox(t)
	s.repository("r")
	for _, path := range []string{"r", "r/.git"} {
		if err := os.Chown(s.path(path), 4321, -1); err != nil {
			t.Fatal(err)
		}
	}
	for sudo, unsafe := range map[string]bool{"": true, "4321": false, "1": true, "4321x": true, " +4321": false, "x": true} {
		opt := s.options()
		opt.Caller = &Caller{SudoUID: sudo}
		if r, err := Open(s.path("r"), opt); err != nil || r.Unsafe != unsafe {
			t.Errorf("SUDO_UID=%q: unsafe %v, %v", sudo, r.Unsafe, err)
		}
		cmd := exec.Command("git", "rev-parse")
		cmd.Dir, cmd.Env = s.path("r"), []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "SUDO_UID=" + sudo}
		if err := cmd.Run(); (err != nil) != unsafe {
			t.Errorf("SUDO_UID=%q: git says %v", sudo, err)
		}
	}
}
