package explain

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestPatchOfAWord holds that a key with a word gets it once, and that one that is
// there is left to the person.
func TestPatchOfAWord(t *testing.T) {
	add := []Declared{{Key: "read_paths", Path: "~/a"}, {Key: "env_files", Word: "read"}, {Key: "env_files", Word: "read"}}
	changed, _, ok := Patch("repo_config.yaml", "sandbox:\n  enforce: cgroup\n", add)
	if want := "sandbox:\n  read_paths:\n    - ~/a\n  env_files: read\n  enforce: cgroup\n"; !ok || changed != want {
		t.Errorf("%t %q, want %q", ok, changed, want)
	}
	if _, _, ok := Patch("repo_config.yaml", "sandbox:\n  env_files: hidden\n", add); ok {
		t.Error("a word that is there was patched")
	}
}

// TestPatch holds that git applies a patch, and what then stands there.
func TestPatch(t *testing.T) {
	probetest.Need(t, "command:git")
	add := []Declared{{Key: "read_paths", Path: "~/a"}, {Key: "read_write_paths", Path: "../b"}, {Key: "read_paths", Path: `"c d"`}}
	for text, want := range map[string]string{
		"":                                       "sandbox:\n  read_paths:\n    - ~/a\n    - \"c d\"\n  read_write_paths:\n    - ../b\n",
		"git:\n  x: 1\n":                         "git:\n  x: 1\nsandbox:\n  read_paths:\n    - ~/a\n    - \"c d\"\n  read_write_paths:\n    - ../b\n",
		"sandbox: # mine\n    enforce: cgroup\n": "sandbox: # mine\n    read_paths:\n      - ~/a\n      - \"c d\"\n    read_write_paths:\n      - ../b\n    enforce: cgroup\n",
		"sandbox:\n  read_paths:\n  - /opt\ngit: {}\n":    "sandbox:\n  read_write_paths:\n    - ../b\n  read_paths:\n  - ~/a\n  - \"c d\"\n  - /opt\ngit: {}\n",
		"sandbox: {}\ngit: {}\n":                          "sandbox:\n  read_paths:\n    - ~/a\n    - \"c d\"\n  read_write_paths:\n    - ../b\ngit: {}\n",
		"sandbox:\n  enforce: cgroup\n  read_paths: []\n": "sandbox:\n  read_write_paths:\n    - ../b\n  enforce: cgroup\n  read_paths:\n    - ~/a\n    - \"c d\"\n",
		"sandbox:\n  read_paths: [/opt]\n":                "",
		"sandbox: {read_paths: [/opt]}\n":                 "",
		"sandbox: {} # none\n":                            "",
	} {
		changed, diff, ok := Patch("repo_config.yaml", text, add)
		if changed != want || ok != (want != "") {
			t.Errorf("%q: %t %q, want %q", text, ok, changed, want)
		}
		if !ok {
			continue
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "repo_config.yaml")
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "p"), []byte(diff), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "p")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v %s\n%s", text, err, out, diff)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
