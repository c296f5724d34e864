package escapes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/view"
	"ethos/pkg/shorttest"
)

// TestEscapesNested runs every case as an ordinary user, the attack in user and
// mount namespaces of its own, where it holds every capability: in a run that may
// make namespaces, and in one that may mount there as well, into a view, where there
// can be one. What that opens the case says, in its field nested; that is found true.
// An ordinary user runs all cases, or a part where probetest.OneUser is set.
func TestEscapesNested(t *testing.T) {
	cases := shorttest.Sample(load(t), 20)
	var tried, ran, twins atomic.Int32
	t.Cleanup(func() {
		if whole := only() == "" && !t.Failed() && os.Geteuid() != 0; whole && (4*ran.Load() < 3*tried.Load() || 10*twins.Load() < 9*ran.Load()) {
			t.Errorf("of %d attacks %d ran, and %d twins succeeded", tried.Load(), ran.Load(), twins.Load())
		}
	})
	twice(t, func(t *testing.T) {
		host := newHost(t)
		if os.Geteuid() == 0 {
			host.rootNested(t)
			return
		}
		levels := []string{capability.NestedNamespaces, capability.NestedMounts}
		if why := noUpper(t); why != "" {
			t.Log("without mounts: " + why)
			levels = levels[:1]
		}
		for i, c := range cases {
			if part := os.Getenv(probetest.OneUser) != ""; part && c.Nested == "" && i%5 != 0 {
				continue
			}
			if c.As == "root" || slices.Contains(c.Want, Refused) || slices.Contains(c.Flags, "--allow-nested-userns") { // the last are nested already
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				for _, need := range c.Needs {
					meet(t, need)
				}
				for _, level := range levels {
					tried.Add(1)
					if host.runNested(t, c, level, &twins) {
						ran.Add(1)
					}
				}
			})
		}
	})
}

// noUpper says why no file system carries the upper layer of a view, "" where one does.
func noUpper(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	v, err := view.Create(view.Place{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }})
	if errors.Is(err, view.ErrNoUpper) {
		return err.Error()
	}
	if err == nil {
		err = v.Remove()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// rootNested: root has none, and is told so.
func (h *host) rootNested(t *testing.T) {
	c := Case{Name: "root", Flags: []string{"--allow-nested-userns", "true"}}
	err := h.start(t, c, h.place(t, c), "true")
	if refusal := (*sandbox.Refusal)(nil); !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "ordinary user") {
		t.Errorf("it was not refused with a hint: %v", err)
	}
}

// runNested reports that the attack ran: with mounts not all flags go together.
func (h *host) runNested(t *testing.T, c Case, level string, twins *atomic.Int32) bool {
	t.Helper()
	c.Flags = append(slices.Clone(c.Flags), "--allow-nested-userns", level)
	if level == capability.NestedMounts && !slices.Contains(c.Flags, "--view") {
		c.Flags = append(c.Flags, "--view", capability.CopyOnWrite)
	}
	p := h.place(t, c)
	script := fmt.Sprintf("'%s' %s nested <<'END OF ATTACK'\n%s(\n%s\n)\nEND OF ATTACK\necho \"attack=$?\"\n(\n%s\n)\necho \"twin=$?\"\necho 'complete %s'\n", self(), attackWord, p.variables, c.Attack, c.Twin, c.Name)
	spec, err := p.spec(c, script)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if refusal := (*sandbox.Refusal)(nil); level == capability.NestedMounts && errors.As(err, &refusal) && refusal.Hint != "" {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	out, got, err := sandbox.RunCaptured(ctx, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := got.Stdout.Text + got.Stderr.Text
	ends := regexp.MustCompile(`(?s)^(.*)attack=(\d+)\n.*twin=(\d+)\ncomplete (.*)\n$`).FindStringSubmatch(got.Stdout.Text)
	if out.Status != record.StatusExited || out.ExitCode != 0 || ends == nil || ends[4] != c.Name || strings.Contains(said, "nested: ") {
		t.Fatalf("%s: it did not come to its end: %s %d\n%s", level, out.Status, out.ExitCode, said)
	}
	// What is written into a view is on no host, and some of what comes of a command
	// that writes through is not there.
	inView, outcome := level == capability.NestedMounts, ""
	var after error
	if c.After != "" {
		if after = p.shell(c.After).Run(); after != nil && inView && h.place(t, c).shell(c.After).Run() != nil {
			after = nil // it asks for what the command would have done
		}
	}
	switch {
	case after != nil:
		outcome = Open
	case ends[2] != "0", slices.Contains(c.Want, Held), inView && c.After != "":
	case ends[1] == "":
		outcome = Empty
	default:
		outcome = Open
	}
	if want := c.onNested(level); outcome != want && !(want == Open && outcome == Empty) {
		t.Errorf("%s: %q, and not %q (%s)\n%s", level, outcome, want, c.Nested, said)
	}
	if ends[3] != "0" && !inView {
		t.Errorf("%s: the twin ended with %s\n%s", level, ends[3], said)
	}
	if ends[3] == "0" {
		twins.Add(1)
	}
	return true
}

// nested runs the script of its standard input in user and mount namespaces of its
// own, and those that args name, as root of them, and ends as it does.
func nested(args []string) error {
	script, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", string(script))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	for _, name := range args {
		cmd.SysProcAttr.Cloneflags |= map[string]uintptr{"pid": syscall.CLONE_NEWPID, "net": syscall.CLONE_NEWNET, "ipc": syscall.CLONE_NEWIPC}[name]
	}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(max(1, exit.ExitCode()))
	}
	return err
}
