package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ethos/pkg/policy"
)

// prove runs the examples in the consumer's policies. A policy that does not do
// what its author says must not decide. A note in the workspace's cache records
// the success, so that the next hook can skip it; the note saves time and
// decides nothing.
func prove(set *policy.Set, sources []policy.Source, workspace string, version func() string) error {
	if !slices.ContainsFunc(set.Policies(), hasExamples) {
		return nil
	}
	note := proofNote(set, sources, workspace, version())
	if _, err := os.Lstat(note); err == nil {
		return nil
	}
	if err := RunExamples(set); err != nil {
		return err
	}
	leaveNote(note)
	return nil
}

func hasExamples(p policy.Policy) bool { return len(p.Examples.Deny)+len(p.Examples.Allow) > 0 }

// proofNote returns the path of the note that this program has proven these
// texts.
func proofNote(set *policy.Set, sources []policy.Source, workspace, version string) string {
	h := sha256.New()
	io.WriteString(h, version+"\x00"+set.Digest())
	for _, s := range sources {
		fmt.Fprintf(h, "\x00%d\x00%s", len(s.Text), s.Text)
	}
	return filepath.Join(workspace, ".coding-ethos", "cache", "proven-"+hex.EncodeToString(h.Sum(nil))[:32])
}

// leaveNote writes the note if ethos already has a directory in the workspace.
// It ignores errors. The directory may have come with the repository, so no
// symbolic link in it may lead out.
func leaveNote(note string) {
	own := filepath.Dir(filepath.Dir(note))
	if info, err := os.Lstat(own); err != nil || !info.IsDir() {
		return
	}
	root, err := os.OpenRoot(own)
	if err != nil {
		return
	}
	defer root.Close()
	name := filepath.Join(filepath.Base(filepath.Dir(note)), filepath.Base(note))
	if err := root.Mkdir(filepath.Dir(name), 0o755); err != nil && !os.IsExist(err) {
		return
	}
	if f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
		f.Close()
	}
}
