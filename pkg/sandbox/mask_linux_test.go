package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ethos/pkg/record"
)

// TestMask: the evidence names what stood in the place of a file, and each mask that would show more than the command has is refused.
func TestMask(t *testing.T) {
	spec := script(t, "cat secret .env empty; test ! -s empty")
	for name, text := range map[string]string{"secret": "real", "fake": "fake\n", "empty": "real", ".env": "TOKEN=real", "d/denied": "real"} {
		write(t, filepath.Join(spec.Workspace, name), text)
	}
	spec.Masks = []string{"secret=fake", "empty=", ".env=fake", "missing?=fake"}
	r := execute(t, spec)
	if r.err != nil || r.ExitCode != 0 || r.Stdout.Text != "fake\nfake\n" {
		t.Fatalf("%v %d %q %s", r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	const none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	at := func(name string) string { return filepath.Join(spec.Workspace, name) }
	got := r.Evidence.Masks
	if len(got) != 3 || got[0].Path != at("secret") || got[0].With != at("fake") || got[1] != (record.Mask{Path: at("empty"), SHA256: none}) || got[0].SHA256 != got[2].SHA256 || got[0].SHA256 == none {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(r.Evidence.DenyReadPaths, at("secret")) {
		t.Errorf("%v", r.Evidence.DenyReadPaths)
	}
	for name, change := range map[string]func(*Spec){
		"what is denied":  func(s *Spec) { s.Masks, s.DenyReadPaths = []string{"secret=d/denied"}, []string{"d"} },
		"what is outside": func(s *Spec) { s.Masks = []string{"secret=/etc/shadow"} },
		"two contents":    func(s *Spec) { s.Masks = []string{"secret=fake", "secret="} },
		"a directory":     func(s *Spec) { s.Masks = []string{"d=fake"} },
		"what is missing": func(s *Spec) { s.Masks = []string{"missing=fake"} },
		"no content":      func(s *Spec) { s.Masks = []string{"secret=missing"} },
		"what is masked":  func(s *Spec) { s.Masks = []string{"secret=empty", "empty="} },
		"what is shown":   func(s *Spec) { s.Masks, s.ReadPaths = []string{"secret="}, []string{"secret"} },
		"no mask":         func(s *Spec) { s.Masks = []string{"secret"} },
		"landlock":        func(s *Spec) { s.Backend = Landlock },
	} {
		wrong := spec
		change(&wrong)
		_, err := Build(wrong, HostFiles{}, os.Geteuid())
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
