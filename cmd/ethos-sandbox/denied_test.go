package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

func denialOf(name string) record.Denial {
	c := record.Connection{Name: name, Port: 443, Reason: "denied-by-allowlist", Detail: "not in the allow-list", Remedy: name + ":443"}
	return c.Denial()
}

// TestRefusedAtOnce: each destination is one line while the command runs,
// without its hint, whoever reads; lines that are late are not written.
func TestRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := &refusals{sys: &cli.System{Name: "ethos-sandbox", Stderr: &out}}
		r.tell(denialOf("registry.npmjs.org"))
		synctest.Wait()
		if want := "ethos-sandbox: denied: network: registry.npmjs.org:443: not in the allow-list\n"; out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		out.Reset()
		r.tell(denialOf("a\x1b[2J\n\u202eb.example"))
		synctest.Wait()
		if got := out.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\u202e") {
			t.Errorf("hostile name: %q", got)
		}
		r.end()
		out.Reset()
		r.tell(denialOf("late.example"))
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("after the end: %q", out.String())
		}
	})
}

// blocked takes nothing until it is opened.
type blocked struct {
	open chan struct{}
	mu   sync.Mutex
	n    int
}

func (b *blocked) Write(p []byte) (int, error) {
	<-b.open
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	return len(p), nil
}

// TestRefusedDoesNotWait: a flood of names while nobody reads keeps no one
// waiting, and becomes a bounded number of lines.
func TestRefusedDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &blocked{open: make(chan struct{})}
		r := &refusals{sys: &cli.System{Stderr: out}}
		for n := range 10_000 {
			r.tell(denialOf(fmt.Sprintf("n%d.example", n)))
		}
		close(out.open)
		synctest.Wait()
		if out.n != maxRefusals {
			t.Errorf("%d lines, want %d", out.n, maxRefusals)
		}
	})
}

// TestWarnDeniedIsBounded: a command that asks for very many names does not push
// everything else out of sight.
func TestWarnDeniedIsBounded(t *testing.T) {
	var out bytes.Buffer
	var denials []record.Denial
	for n := range 101 {
		denials = append(denials, denialOf(fmt.Sprintf("n%d.example", n)))
	}
	warn(&cli.System{Name: "ethos-sandbox", Stderr: &out}, denials)
	end := "ethos-sandbox: denied: network: 81 more\nethos-sandbox: hint: --evidence FILE lists them\n"
	if got := out.String(); strings.Count(got, "\n") != 2*maxRefusals+2 || !strings.HasSuffix(got, end) {
		t.Errorf("%s", got)
	}
}

// TestWarnDenied: at the end each refused destination has its hint; one that a
// deny rule names has none. What was recovered before the run is not told again.
func TestWarnDenied(t *testing.T) {
	var out bytes.Buffer
	sys := &cli.System{Name: "ethos-sandbox", Stderr: &out}
	rule := record.Connection{Name: "x.evil.example", Port: 443, Reason: record.ConnectionDenied, Rule: "*.evil.example", Remedy: "x.evil.example:443"}
	recovered := record.Denial{Layer: sandbox.ControlGit, What: "before"}
	evidence := record.Sandbox{Denials: []record.Denial{recovered, denialOf("registry.npmjs.org"), rule.Denial(), {Layer: "pid", What: "the rest"}}}
	warnDenied(sys, &sandbox.Plan{Recovered: []record.Denial{recovered}}, sandbox.Outcome{Evidence: evidence})
	want := `ethos-sandbox: denied: network: registry.npmjs.org:443: not in the allow-list
ethos-sandbox: hint: --allow-domain registry.npmjs.org:443
ethos-sandbox: denied: network: x.evil.example:443: the deny rule *.evil.example names it
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
