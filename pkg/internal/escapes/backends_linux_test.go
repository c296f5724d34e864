package escapes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/kernel/landlock"
)

// TestEscapesLandlock runs the cases with the backend that makes no namespace: all
// as root, whom permissions do not hold, and a part of them as an ordinary user, and
// where another run has most.
func TestEscapesLandlock(t *testing.T) {
	meet(t, "landlock-abi-3")
	on(t, sandbox.Landlock)
}

// TestEscapesBwrap runs them with the backend in which bubblewrap makes the namespaces.
func TestEscapesBwrap(t *testing.T) {
	meet(t, "command:bwrap")
	on(t, sandbox.Bwrap)
}

// on runs the cases with a backend. What it does not guarantee the case says, in its field
// of that name; that is found true, so that nothing stays there that is held.
func on(t *testing.T, backend string) {
	var number, ran, twins atomic.Int32
	t.Cleanup(func() {
		if whole := only() == "" && !t.Failed(); whole && 4*twins.Load() < ran.Load() {
			t.Errorf("of %d twins %d succeeded", ran.Load(), twins.Load())
		}
	})
	everyCase(t, func(h *host, t *testing.T, c Case) {
		part := os.Geteuid() != 0 || os.Getenv(controls) == "off"
		if n := number.Add(1); part && c.differs(backend) == "" && c.As == "" && n%5 != 0 {
			return
		}
		ran.Add(1)
		if h.runOn(t, backend, c) {
			twins.Add(1)
		}
	})
}

// runOn reports that the twin succeeded.
func (h *host) runOn(t *testing.T, backend string, c Case) (twin bool) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	place := h.place(t, c)
	got, said, twin := h.alone(t, backend, c, place)
	if got != NotRun && c.After != "" {
		out, err := place.shell(c.After).CombinedOutput()
		if err != nil && !twin && h.place(t, c).shell(c.After).Run() != nil {
			err = nil // it asks for what the twin would have done
		}
		if err == nil && backend == sandbox.Bwrap && c.Control == Bites {
			got = "" // what it changed was in a private directory
		}
		if err != nil {
			got, said = Open, said+fmt.Sprintf("\nafterwards on the host: %v: %s", err, out)
		}
	}
	want, abi, why := c.on(backend)
	if kernel, err := landlock.Probe(); err == nil && abi > 0 && kernel.ABI >= abi {
		want = ""
	}
	if got != want {
		t.Errorf("%q, and not %q (%s)\n%s", got, want, why, said)
	}
	return twin
}

// elsewhere are the errnos with which attacks fail there and not with the native backend:
// git's directory is read-only or not shown, package caches are read-only, and without a
// network there is a loopback interface, on which nothing listens.
var elsewhere = map[string][]string{
	sandbox.Landlock: {"EACCES", "EPERM", "EXDEV"},
	sandbox.Bwrap:    {"EROFS", "ENOENT", "ECONNREFUSED"},
}

// alone runs attack and twin.
func (h *host) alone(t *testing.T, backend string, c Case, p place) (outcome, said string, twin bool) {
	t.Helper()
	script := fmt.Sprintf("(\n%s\n)\necho \"attack=$?\"\n(\n%s\n)\necho \"twin=$?\"\necho 'complete %s'\n", c.Attack, c.Twin, c.Name)
	spec, err := p.spec(c, script)
	if err != nil {
		t.Fatal(err)
	}
	spec.Backend = backend
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	var out sandbox.Outcome
	var got record.Capture
	if err == nil {
		out, got, err = sandbox.RunCaptured(ctx, plan, nil)
	}
	if refusal := (*sandbox.Refusal)(nil); errors.As(err, &refusal) && refusal.Hint != "" {
		if slices.Contains(c.Want, Refused) {
			return "", "", true
		}
		return NotRun, err.Error(), false
	}
	if err != nil {
		t.Fatal(err)
	}
	said = got.Stdout.Text + got.Stderr.Text
	ends := regexp.MustCompile(`(?s)attack=(\d+)\n.*twin=(\d+)\ncomplete (.*)\n$`).FindStringSubmatch(got.Stdout.Text)
	if out.Status != record.StatusExited || out.ExitCode != 0 || ends == nil || ends[3] != c.Name {
		t.Fatalf("it did not come to its end: %s %d\n%s", out.Status, out.ExitCode, said)
	}
	if ends[1] == "0" && !slices.Contains(c.Want, Held) {
		outcome = Open
	}
	text := strings.ReplaceAll(said, "Directory nonexistent", "No such file or directory")
	met := func(want string) bool { return want == "nothing" || want == Held || shows(text, want) }
	if outcome == "" && !slices.ContainsFunc(slices.Concat(elsewhere[backend], c.Want), met) {
		t.Errorf("the attack failed for another reason\n%s", said)
	}
	return outcome, said, ends[2] == "0"
}
