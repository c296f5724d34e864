package facts

import (
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/record"
)

// TestInstalledPrograms changes programs where they are installed and where
// they are built. ~/bin and ~/lib/ethos are on PATH, ~/bin by a link.
func TestInstalledPrograms(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(root, "home"), filepath.Join(root, "home/src")
	for _, dir := range []string{"home/lib/ethos", "home/opt", "home/src/.git", "home/src/build", "home/tools"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"lib/ethos/ethos-git", "lib/ethos/ethos-decide", "lib/ethos/other", "src/build/ethos-git", "tools/x"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"bin": "lib/ethos", "lib/ethos/git": "ethos-git", "src/out": "../lib/ethos"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	path := []string{filepath.Join(home, "bin"), filepath.Join(home, "tools"), filepath.Join(work, "build"), "relative", ""}
	d, err := New(Options{Home: home, Programs: path})
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]bool{
		"rm ~/bin/ethos-decide":                      true,
		"rm ~/lib/ethos/ethos-decide":                true,
		"rm ~/bin/git":                               true, // the link that leads to ethos-git
		"rm ~/bin":                                   true,
		"rm -r ~/lib":                                true,
		"rm -r ~/bin/*":                              true,
		"rm ~/bin/o*":                                false,
		"rm ~/bin/other":                             false,
		"mv ~/lib ~/lib2":                            true,
		"mv ~/opt ~/opt2":                            false,
		"chmod 777 ~/lib/ethos":                      true,
		"chmod 755 ~/lib":                            false,
		"chmod u+w ~/bin/ethos-git":                  true,
		"ls -l ~/bin/ethos-git":                      false,
		"cp ~/bin/ethos-git build/":                  false,
		"cp x ~/tools/ethos-git":                     true, // another one, found first
		"cp x ~/tools/git":                           true,
		"cp x ~/tools/y":                             false,
		"cp x ~/opt/ethos-git":                       false, // not on PATH
		"cp x out/ethos-git":                         true,  // by a link of the work space
		"cp build/ethos-git ~/bin":                   true,
		"cp -t ~/bin build/ethos-git":                true,
		"cp -r build/. ~/bin":                        true,
		"cp -r build/. ~/tools":                      false, // holds none
		"cp x ~/bin":                                 false,
		"mkdir -p ~/bin":                             false,
		"tar -xf x.tar -C ~/bin":                     true,
		"find ~ -name 'ethos-*' -delete":             true,
		"find ~/bin -name 'ethos-*' -delete":         true,
		"find ~/bin -name 'o*' -delete":              false,
		"find build -name 'ethos-*' -delete":         false,
		"find ~/src/build -name '*.o' -delete":       false,
		"rm build/ethos-git":                         false,
		"go build -o build/ ./cmd/...":               false,
		"go build -o ~/bin/ethos-git ./cmd":          true,
		"strip build/ethos-git":                      false,
		"echo x > ~/bin/ethos-trace":                 true,
		"ln -sf /usr/bin/git ~/bin/git":              true,
		"touch ~/bin/ethos-factsheet":                false,
		"cd ~/bin && rm ethos-git":                   true,
		"python3 -m compileall ~/bin":                false,
		"sed -i s/a/b/ ~/bin/../lib/ethos/ethos-git": true,
	} {
		if got := changesProgramIn(t, d, work, script); got != want {
			t.Errorf("%s: %t, want %t", script, got, want)
		}
	}
	// The home directory as a work space takes nothing out.
	if !changesProgramIn(t, d, home, "rm bin/ethos-git") {
		t.Error("a program in the home directory is the work space's")
	}
}

func changesProgramIn(t *testing.T, d *Deriver, dir, script string) bool {
	t.Helper()
	a, err := d.Place(record.Action{Kind: record.KindShell, Script: script, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	a.Workspace = dir
	f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range f.Files {
		if file.Protected == classProgram {
			return true
		}
	}
	return false
}

func TestMatchGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"/a/*", "/a/b", true}, {"/a/*", "/a/b/c", false}, {"/a/**/c", "/a/c", true}, {"/a/**/c", "/a/b/b/c", true}, {"/a/**", "/a/b/c", true},
		{"/a/**/x*", "/a/b/c", false}, {"/**", "/a", true}, {"/a/[!b]", "/a/b", false}, {"/a/[!b]", "/a/c", true}, {"/a", "/a/b", false},
	} {
		if got := matchGlob(c.pattern, c.name); got != c.want {
			t.Errorf("%s %s: %t", c.pattern, c.name, got)
		}
	}
}
