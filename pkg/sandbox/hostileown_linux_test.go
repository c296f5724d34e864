package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/seal"
	"ethos/pkg/shorttest"
)

// ownCase is a directory of ethos that ethos has not made: it came with a clone, or an earlier command left it.
type ownCase struct {
	// forge makes it. own is its path, out a directory of the person that nobody declared.
	forge func(t *testing.T, own, out string)
	root  bool // only root can make it
	// locked says that nothing runs there until the person has moved it away, and is told so.
	locked bool
}

var ownCases = map[string]ownCase{
	"a link to a directory outside": {locked: true, forge: func(t *testing.T, own, out string) { link(t, out, own) }},
	"a link to nothing":             {locked: true, forge: func(t *testing.T, own, out string) { link(t, out+"/missing", own) }},
	"a link to itself":              {locked: true, forge: func(t *testing.T, own, out string) { link(t, filepath.Base(own), own) }},
	"a file":                        {locked: true, forge: func(t *testing.T, own, out string) { write(t, own, "x") }},
	"a journal of real files": {forge: func(t *testing.T, own, out string) {
		work := filepath.Dir(strings.TrimSuffix(own, "/coding-ethos")) // of either place
		forgeJournal(t, own, out+"/bashrc", out+"/empty", out+"/emptydir", out, "/etc/hostname", "../../out/empty", work+"/../out/empty",
			".git/config", work+"/.git/config", work+"/.git/HEAD", work+"/.git/hooks/pre-commit", work, "/", "")
	}},
	"a journal through a link": {forge: func(t *testing.T, own, out string) {
		work := filepath.Dir(strings.TrimSuffix(own, "/coding-ethos"))
		link(t, out, work+"/way")
		forgeJournal(t, own, work+"/way/empty", work+"/way/emptydir", work+"/way/bashrc")
	}},
	"the journal is a link outside": {forge: inOwn(func(t *testing.T, own, out string) { link(t, out+"/bashrc", own+"/"+journalName) })},
	"the journal is a link inside": {forge: inOwn(func(t *testing.T, own, out string) {
		write(t, own+"/traces/day", "x")
		link(t, "traces/day", own+"/"+journalName)
	})},
	"the journal is a FIFO":         {forge: inOwn(func(t *testing.T, own, out string) { fifo(t, own+"/"+journalName) })},
	"the journal is a directory":    {locked: true, forge: inOwn(func(t *testing.T, own, out string) { mkdir(t, own+"/"+journalName) })},
	"the journal is a device":       {root: true, forge: inOwn(func(t *testing.T, own, out string) { device(t, own+"/"+journalName) })},
	"the journal is another's name": {forge: inOwn(func(t *testing.T, own, out string) { hardLink(t, out+"/bashrc", own+"/"+journalName) })},
	"the journal is huge":           {forge: inOwn(func(t *testing.T, own, out string) { write(t, own+"/"+journalName, ""); grow(t, own+"/"+journalName) })},
	"the journal is not text":       {forge: inOwn(func(t *testing.T, own, out string) { write(t, own+"/"+journalName, "\x00\xff\"\n{}\n[]\nnull\n\"/\n") })},
	"the pool is a link outside":    {forge: inOwn(func(t *testing.T, own, out string) { link(t, out, own+"/"+"pool") })},
	"the pool is a FIFO":            {forge: inOwn(func(t *testing.T, own, out string) { fifo(t, own+"/"+"pool") })},
	"the caches are a link outside": {forge: inOwn(func(t *testing.T, own, out string) { link(t, out, own+"/cache") })},
	"the caches are a FIFO":         {forge: inOwn(func(t *testing.T, own, out string) { fifo(t, own+"/cache") })},
	"a cache is a link outside":     {forge: inSlot(func(t *testing.T, slot, out string) { remake(t, slot); link(t, out, slot) })},
	"an upper directory is a link":  {forge: inSlot(func(t *testing.T, slot, out string) { link(t, out, slot+"/upper") })},
	"a work directory is a link":    {forge: inSlot(func(t *testing.T, slot, out string) { link(t, out, slot+"/work") })},
	"an upper directory is a FIFO":  {forge: inSlot(func(t *testing.T, slot, out string) { fifo(t, slot+"/upper") })},
	"the mark of a cache is a FIFO": {forge: inSlot(func(t *testing.T, slot, out string) { remake(t, slot); mkdir(t, slot); fifo(t, slot+"/boot") })},
	"the mark of a cache is a link": {forge: inSlot(func(t *testing.T, slot, out string) {
		remake(t, slot)
		mkdir(t, slot)
		link(t, out+"/empty", slot+"/boot")
	})},
	"work of the kernel's is a link": {forge: inSlot(func(t *testing.T, slot, out string) { mkdir(t, slot+"/work"); link(t, out, slot+"/work/work") })},
	"what an overlay left is a link": {forge: inSlot(func(t *testing.T, slot, out string) {
		mkdir(t, slot+"/work/work")
		link(t, out, slot+"/work/work/incompat")
	})},
	"traces of inside are a link": {forge: inOwn(func(t *testing.T, own, out string) { link(t, out, own+"/"+insideTraces) })},
	"nobody may read it": {locked: true, forge: func(t *testing.T, own, out string) {
		mkdir(t, own)
		chmod(t, own, 0)
		t.Cleanup(func() { chmod(t, own, 0o700) })
	}},
	"everybody may write to it":       {forge: func(t *testing.T, own, out string) { mkdir(t, own); chmod(t, own, 0o777) }},
	"it is another user's":            {root: true, forge: func(t *testing.T, own, out string) { mkdir(t, own); chown(t, own, ordinary) }},
	"what is in it is another user's": {root: true, forge: inOwn(func(t *testing.T, own, out string) { forgeJournal(t, own); chown(t, own+"/"+journalName, ordinary) })},
}

func inOwn(forge func(t *testing.T, own, out string)) func(t *testing.T, own, out string) {
	return func(t *testing.T, own, out string) { mkdir(t, own); forge(t, own, out) }
}

// inSlot forges the first slot of the cache, which has the mark that ethos makes.
func inSlot(forge func(t *testing.T, slot, out string)) func(t *testing.T, own, out string) {
	return func(t *testing.T, own, out string) {
		slot := plan.CacheDir(own, plan.SharedCaches, cacheBeside(out)) + "/0"
		mkdir(t, slot)
		boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		if err != nil {
			t.Fatal(err)
		}
		home := func(name string) string {
			return map[string]string{"HOME": filepath.Join(filepath.Dir(out), "home")}[name]
		}
		sealed, err := seal.Of(home, "cache\x00"+slot+"\x00"+string(boot))
		if err != nil {
			t.Fatal(err)
		}
		write(t, slot+"/boot", sealed)
		forge(t, slot, out)
	}
}

// cacheBeside is the package cache of the person's.
func cacheBeside(out string) string { return filepath.Join(filepath.Dir(out), "home/.npm") }

// TestHostileOwn: a directory of ethos that came with a clone, or that an earlier command left, makes a run neither
// read nor change anything outside of the work space, and nothing in it that is not ethos's.
func TestHostileOwn(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:git")
	twice(t, func(t *testing.T) {
		for name, c := range shorttest.SampleMap(ownCases, 5) {
			for _, own := range []string{ethosDir, ownInGit} {
				if c.root && os.Geteuid() != 0 {
					continue
				}
				t.Run(name+"/"+own, func(t *testing.T) {
					t.Parallel()
					hostileOwn(t, c, own)
				})
			}
		}
	})
}

func hostileOwn(t *testing.T, c ownCase, own string) {
	spec := repository(t, "echo new > file; echo new > $HOME/.npm/new; cat $HOME/.npm/old; echo x > "+record.InsideTraces+"/x")
	base := filepath.Dir(spec.Workspace)
	out := base + "/out"
	write(t, out+"/bashrc", "the person's\n")
	write(t, out+"/empty", "")
	mkdir(t, out+"/emptydir")
	write(t, base+"/home/.npm/old", "old\n")
	spec.KeepsStore = own == ethosDir
	spec.Managed = ManagedGit{Program: "/usr/bin/true", Decide: "/usr/bin/true", Real: "/usr/bin/true"}
	inGit := filepath.Join(spec.Workspace, ownInGit)
	if own == ownInGit && !c.locked {
		write(t, inGit+"/"+journalName, "") // what makes it count
	}
	c.forge(t, filepath.Join(spec.Workspace, own), out)
	before := everything(t, out, base+"/home", spec.Workspace+"/.git/config", spec.Workspace+"/.git/HEAD")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	ended := make(chan result, 1)
	go func() {
		plan, err := Build(spec, HostFiles{}, os.Geteuid())
		if err != nil {
			ended <- result{err: err}
			return
		}
		o, got, err := RunCaptured(ctx, plan, nil)
		ended <- result{o, got, err}
	}()
	var r result
	select {
	case r = <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("it hangs")
	}
	var refusal *Refusal
	switch {
	case errors.As(r.err, &refusal):
		if !c.locked || refusal.Hint == "" {
			t.Errorf("nothing runs there: %v; hint %q", r.err, refusal.Hint)
		}
	case r.err != nil || r.Status != record.StatusExited || r.ExitCode != 0 || r.Stdout.Text != "old\n":
		t.Errorf("%v: %s %d %q\n%s", r.err, r.Status, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	if after := everything(t, out, base+"/home", spec.Workspace+"/.git/config", spec.Workspace+"/.git/HEAD"); !slices.Equal(before, after) {
		t.Errorf("outside\nbefore %q\nafter  %q", before, after)
	}
}

// everything lists what lies in directories, and what it is.
func everything(t *testing.T, dirs ...string) (list []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if strings.HasSuffix(path, "/.local") { // the state of ethos
				return fs.SkipDir
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			line := fmt.Sprintf("%s %s", path, info.Mode())
			if info.Mode().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %x", sha256.Sum256(text))
			}
			list = append(list, line)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func forgeJournal(t *testing.T, own string, paths ...string) {
	t.Helper()
	var text []byte
	for _, path := range paths {
		line, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	write(t, filepath.Join(own, journalName), string(text))
}

func link(t *testing.T, to, at string) { t.Helper(); must(t, clear(at), os.Symlink(to, at)) }
func fifo(t *testing.T, at string)     { t.Helper(); must(t, clear(at), unix.Mkfifo(at, 0o600)) }
func device(t *testing.T, at string) {
	t.Helper()
	must(t, clear(at), unix.Mknod(at, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))) // zero(4)
}
func hardLink(t *testing.T, to, at string)         { t.Helper(); must(t, clear(at), os.Link(to, at)) }
func mkdir(t *testing.T, at string)                { t.Helper(); must(t, os.MkdirAll(at, 0o755)) }
func remake(t *testing.T, at string)               { t.Helper(); must(t, os.RemoveAll(at)) }
func grow(t *testing.T, at string)                 { t.Helper(); must(t, os.Truncate(at, 1<<30)) }
func chown(t *testing.T, at string, user int)      { t.Helper(); must(t, os.Chown(at, user, user)) }
func chmod(t *testing.T, at string, m os.FileMode) { t.Helper(); must(t, os.Chmod(at, m)) }

// clear takes away what stands at a path, whose parent it makes.
func clear(at string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.RemoveAll(at))
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
