package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/decide"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// pair builds ethos-decide without CEL and ethos-cel beside it, as they are released, and the
// program with CEL as ethos-decide in a directory of its own.
func pair(t *testing.T) (dir string) {
	dir = t.TempDir()
	for name, flags := range map[string][]string{"both/ethos-decide": {"-tags", "nocel,nomodel"}, "both/ethos-cel": nil, "whole/ethos-decide": nil} {
		cmd := exec.Command("go", append(append([]string{"build", "-trimpath"}, flags...), "-o", filepath.Join(dir, name), ".")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
	}
	return dir
}

// spoken is what a program said.
type spoken struct {
	out, err string
	status   int
}

// volatile is what differs between two runs: times, and the ids of error lines.
var volatile = regexp.MustCompile(`"duration_ms":[0-9.e-]+|"id":"[0-9a-f-]+","error"`)

// runIn runs a program in a directory with a state of its own.
func runIn(t *testing.T, program, dir, input string, args ...string) spoken {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(input), &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ETHOS_STORE="+t.TempDir(), "ETHOS_MODE=")
	_ = cmd.Run() // its status is compared
	return spoken{volatile.ReplaceAllString(out.String(), ""), errs.String(), cmd.ProcessState.ExitCode()}
}

// recordsFor returns records of scripts, as ethos-facts writes them. "if" is none that can be read:
// what depends on its facts is unknown, and needs CEL.
func recordsFor(t *testing.T, workspace string, scripts ...string) (lines []string) {
	t.Helper()
	c := newCourt(t)
	for i, script := range scripts {
		action := record.Action{Kind: record.KindShell, Script: script}
		actor := record.Actor{Agent: "claude", Event: "PreToolUse", Tool: "Bash", Mode: record.ModeSafe, Session: "s"}
		action, facts, err := c.Facts(t.Context(), action, actor)
		if err != nil {
			t.Fatal(err)
		}
		action.Workspace = workspace
		l := record.NewLine(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a80%02d", i), time.Unix(1_700_000_000, 0).UTC(), action, actor)
		if err := l.Set("facts", facts); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(l.AppendTo(nil)))
	}
	return lines
}

// TestHandsOver holds that ethos-decide without CEL, with ethos-cel beside it, does what the whole
// program does, wherever in its input it hands over.
func TestHandsOver(t *testing.T) {
	shorttest.Long(t)
	dir := pair(t)
	t.Run("at once", func(t *testing.T) { handsOverAtOnce(t, filepath.Join(dir, "both/ethos-decide")) })
	policies, plain := t.TempDir(), t.TempDir()
	own := "version: 1\npolicies:\n  - id: own.no_ls\n    principle: one-way\n    effect: deny\n    when: runs(shell, \"ls\")\n    message: There is another way.\n    remedy: Use it.\n"
	if err := os.WriteFile(filepath.Join(policies, decide.ConsumerFile), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plain, "coding_ethos.yaml"), nil, 0o600); err != nil { // a name that is not read
		t.Fatal(err)
	}
	l := recordsFor(t, plain, "ls", "rm -rf ~", "echo hi", "if", "git push --force origin main", "go test ./...")
	ls := recordsFor(t, policies, "ls")
	long := strings.Repeat("x", 2<<20) + "\n"
	for name, input := range map[string][]string{
		"nothing":           nil,
		"one":               l[:1],
		"one refused":       l[1:2],
		"unknown facts":     l[3:4],
		"in the middle":     {l[0], l[1], l[2], l[3], l[4], l[5], l[3], l[0]},
		"own policies":      {ls[0]},
		"own policies last": {l[0], l[1], l[2], ls[0], l[0]},
		"no record":         {l[0], "garbage\n", l[3], "garbage\n", "\n", l[1]},
		"too long":          {l[0], long, l[1], l[3], long, l[2]},
		"errors passed on":  {`{"schema":"ethos/v1","id":"x","error":{"stage":"facts","code":"x","message":"m"}}` + "\n", l[3], l[0]},
		"no newline":        {l[0], strings.TrimSuffix(l[3], "\n")},
		"half a line":       {l[3], l[0][:40]},
		"large":             {strings.Join(slices.Repeat(l[:3], 40), ""), l[3], strings.Join(slices.Repeat(l, 20), "")},
	} {
		for _, args := range shorttest.Sample([][]string{nil, {"--quiet"}, {"--mode", "auto"}, {"--reply", "claude"}, {"--pack", "git", "--pack", "trust"}}, 3) {
			text := strings.Join(input, "")
			want := runIn(t, filepath.Join(dir, "whole/ethos-decide"), plain, text, args...)
			got := runIn(t, filepath.Join(dir, "both/ethos-decide"), plain, text, args...)
			if got != want {
				t.Errorf("%s, %q: status %d, and whole %d\n%s", name, args, got.status, want.status, cmp.Diff(want.out+want.err, got.out+got.err))
			}
		}
	}
	for _, args := range [][]string{{"list"}, {"--help"}, {"--nosuch"}, {"nosuch"}, {"--pack", "nosuch"}, {"check"}, {"--reply", "nosuch"}, {"--version"}, {"list", "--needed"}, {"--needed"}, {"--handed"}} {
		want := runIn(t, filepath.Join(dir, "whole/ethos-decide"), plain, l[0], args...)
		if got := runIn(t, filepath.Join(dir, "both/ethos-decide"), plain, l[0], args...); got != want {
			t.Errorf("%q: %+v, and whole: %+v", args, got, want)
		}
	}
	for _, args := range [][]string{nil, {"--reply", "claude"}, {"--reply", "claude", "--nosuch"}} {
		lone := t.TempDir()
		if err := os.Link(filepath.Join(dir, "both/ethos-decide"), filepath.Join(lone, "ethos-decide")); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{plain, policies} {
			got := runIn(t, filepath.Join(lone, "ethos-decide"), dir, l[3], args...)
			blocks := got.status == 2 || strings.Contains(got.out, `"deny"`)
			if got.status == 0 && !blocks || args != nil && !blocks || strings.Contains(got.out, `"allow"`) || !strings.Contains(got.out+got.err, "install ethos-cel beside ethos-decide") {
				t.Errorf("without ethos-cel, %q: %+v", args, got)
			}
		}
	}
}

// handsOverAtOnce holds that each decision is written as soon as its line was read, before and
// after the program is replaced.
func handsOverAtOnce(t *testing.T, program string) {
	l := recordsFor(t, t.TempDir(), "ls", "if", "rm -rf ~")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for i, want := range []string{`"allow"`, `"deny"`, `"deny"`} {
		if _, err := io.WriteString(in, l[i]); err != nil {
			t.Fatal(err)
		}
		if text, err := lines.ReadString('\n'); err != nil || !strings.Contains(text, `"verdict":`+want) {
			t.Errorf("line %d: %q, %v", i, text, err)
		}
	}
	in.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
}
