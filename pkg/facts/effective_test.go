package facts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/catalog"
	"ethos/pkg/gitrepo"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// turning is a file system whose configuration file has another content each
// time it is read.
type turning struct {
	OS
	texts []string
	reads int
}

func (t *turning) ReadFile(name string, most int64) ([]byte, error) {
	if filepath.Base(name) != "repo_config.yaml" {
		return t.OS.ReadFile(name, most)
	}
	t.reads++
	return []byte(t.texts[(t.reads-1)%len(t.texts)]), nil
}

// accepting trusts one digest.
type accepting string

func (a accepting) Trusted(_, digest string) (bool, error) { return digest == string(a), nil }

// TestWhatIsHashedIsUsed: a file that changes between one look and the next is read
// once, so that trust in one content never lets another in.
func TestWhatIsHashedIsUsed(t *testing.T) {
	harmless, wide := "sandbox: {enforce: available}\n", "sandbox: {network_tools: [{tool: make, mode: host}]}\n"
	for _, texts := range [][]string{{harmless, wide}, {wide, harmless}} {
		root := grow(t, "w/.git/HEAD", "w/repo_config.yaml")
		tree := &turning{texts: texts}
		d, err := New(Options{Tree: tree, Trust: accepting(trust.Digest([]byte(harmless))), Git: gitrepo.Options{Home: root}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: root + "/w", Workspace: root + "/w"}, record.Actor{Mode: record.ModeSafe})
		if err != nil {
			t.Fatal(err)
		}
		c := f.Repo.Configuration
		if tree.reads != 1 || len(c) != 1 || c[0].Digest != trust.Digest([]byte(texts[0])) || c[0].Trusted != (texts[0] == harmless) {
			t.Errorf("%d reads, %+v", tree.reads, c)
		}
		if f.Capabilities.Network.Mode == "host" {
			t.Error("a content that nobody has trusted widens")
		}
	}
}

// failing is a memory that cannot be asked.
type failing struct{}

func (failing) Trusted(string, string) (bool, error) { return true, errors.New("unusable") }

// TestMemoryFails: an answer that comes with an error is no.
func TestMemoryFails(t *testing.T) {
	for name, memory := range map[string]Trust{"an error": failing{}, "none": nil} {
		tree := &turning{texts: []string{"sandbox: {network_tools: [{tool: make, mode: host}]}\n"}}
		root := grow(t, "w/.git/HEAD", "w/repo_config.yaml")
		d, err := New(Options{Tree: tree, Trust: memory})
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: root + "/w", Workspace: root + "/w"}, record.Actor{Mode: record.ModeSafe})
		if err != nil || f.Capabilities.Network.Mode == "host" || len(f.Repo.Configuration) != 1 || f.Repo.Configuration[0].Trusted {
			t.Errorf("%s: %v %+v", name, err, f.Repo.Configuration)
		}
	}
}

// TestNoFileNoMemory: a work space without the file asks nobody.
func TestNoFileNoMemory(t *testing.T) {
	root := grow(t, "w/.git/HEAD")
	asked := asking{}
	d, err := New(Options{Trust: &asked})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: root + "/w", Workspace: root + "/w"}, record.Actor{Mode: record.ModeSafe}); err != nil || asked.n != 0 {
		t.Errorf("asked %d times, %v", asked.n, err)
	}
}

type asking struct{ n int }

func (a *asking) Trusted(string, string) (bool, error) { a.n++; return false, nil }

// TestAroundOfSomebodyElse: a file of another user, in a directory that both can
// write to, does not bind the caller.
func TestAroundOfSomebodyElse(t *testing.T) {
	probetest.Need(t, probetest.Root) // chown(2)
	root := grow(t, "shared/.git/HEAD", "shared/repo_config.yaml", "shared/w/.git/HEAD")
	file := root + "/shared/repo_config.yaml"
	if err := os.WriteFile(file, []byte("not: valid\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	derive := func() error {
		d, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: root + "/shared/w", Workspace: root + "/shared/w"}, record.Actor{Mode: record.ModeSafe})
		return err
	}
	if derive() == nil {
		t.Error("the caller's own file around is not read")
	}
	if err := os.Chown(file, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := derive(); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
}

// TestUnreadable: a file that the caller may not read is an error with a way
// out, not a work space without one.
func TestUnreadable(t *testing.T) {
	probetest.Need(t, probetest.User) // root reads everything
	root := grow(t, "w/.git/HEAD", "w/repo_config.yaml")
	if err := os.Chmod(root+"/w/repo_config.yaml", 0); err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Derive(record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: root + "/w", Workspace: root + "/w"}, record.Actor{Mode: record.ModeSafe})
	if fault := (*catalog.ConfigError)(nil); !errors.As(err, &fault) || fault.Hint == "" {
		t.Errorf("%v", err)
	}
}
