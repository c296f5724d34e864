package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// The differential test runs scripts under real bash with a recorder in place of every program and compares what ran
// with the facts: each command that ran must be listed, or the facts must say that they are incomplete.
func TestAgainstBash(t *testing.T) {
	lab := newLab(t)
	n, base := rounds(200), fromSeed()
	complete := 0
	for i := range uint64(n) {
		if lab.compare(t, generate(base+i)) {
			complete++
		}
	}
	if complete < n/3 {
		t.Errorf("only %d of %d scripts had complete facts: the test shows little", complete, n)
	}
	t.Logf("%d of %d scripts had complete facts", complete, n)
}

// TestNonsenseAgainstBash does the same with scripts that hardly make sense: where the parser and bash disagree about
// what they mean, a command could hide.
func TestNonsenseAgainstBash(t *testing.T) {
	lab := newLab(t)
	n, base := rounds(200), fromSeed()
	for i := range uint64(n) {
		for _, script := range []string{soup(base + i), mutate(generate(base+i), base+i)} {
			if harmlessToRun(script) {
				lab.compare(t, script)
				if !strings.Contains(script, "&>") { // a background command and a redirection, to dash
					lab.compare(t, "sh -c '"+strings.ReplaceAll(script, "'", `'\''`)+"'")
				}
			}
		}
	}
}

// harmlessToRun keeps scripts from running that might not end, or leave the scratch directory.
func harmlessToRun(script string) bool {
	for _, word := range []string{"while", "until", "for", "rec", "/", "..", "nohup", "coproc"} {
		if strings.Contains(script, word) {
			return false
		}
	}
	return true
}

// rounds is how many scripts are tried: n, or what ETHOS_DIFFERENTIAL says; fromSeed is the first of them.
func rounds(n int) int { return setting("ETHOS_DIFFERENTIAL", n) }

func fromSeed() uint64 { return uint64(setting("ETHOS_DIFFERENTIAL_SEED", 1)) }

func setting(name string, fallback int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil && v >= 0 {
		return v
	}
	return fallback
}

func TestIdiomsAgainstBash(t *testing.T) {
	lab := newLab(t)
	for _, script := range idioms {
		lab.compare(t, script)
	}
}

// lab is a directory in which a script can run without touching anything else.
type lab struct {
	bin, home, log string
	bash           string
	scripts        int
}

// newLab makes the recorders, and copies of the wrappers that are run for real.
func newLab(t *testing.T) *lab {
	t.Helper()
	probetest.Need(t, "command:bash", "command:dash")
	dir, err := os.MkdirTemp("", "shell-lab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := &lab{bin: filepath.Join(dir, "bin")}
	if err := os.Mkdir(l.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	recorder := "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" 'END\nEND' >>\"$LOG\"\n"
	for _, name := range recorders {
		if err := os.WriteFile(filepath.Join(l.bin, name), []byte(recorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"env", "nice", "nohup", "timeout", "setsid", "stdbuf", "xargs", "cat", "sleep", "dirname", "basename"} {
		if real, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(real, filepath.Join(l.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.bash, _ = exec.LookPath("bash")
	dash, _ := exec.LookPath("dash")
	for name, real := range map[string]string{"bash": l.bash, "sh": dash, "dash": dash} {
		if err := os.Symlink(real, filepath.Join(l.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// next makes the names for the next script, which gets its own directory and log: what an earlier one left running must
// not count for it.
func (l *lab) next() string {
	l.scripts++
	l.log = filepath.Join(filepath.Dir(l.bin), fmt.Sprintf("log%d", l.scripts))
	l.home = filepath.Join(filepath.Dir(l.bin), fmt.Sprintf("home%d", l.scripts))
	return l.home
}

// ran is the argument vectors that a script ran, in the order in which they were recorders.
func (l *lab) ran(t *testing.T, script string) [][]string {
	t.Helper()
	l.reset(t)
	defer os.Remove(l.log)
	defer os.RemoveAll(l.home)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.bash, "--norc", "--noprofile", "-c", script)
	cmd.Dir = l.home
	cmd.Env = []string{"PATH=" + l.bin, "LOG=" + l.log, "HOME=" + l.home, "LC_ALL=C.UTF-8", "FUNCNEST=40"}
	cmd.WaitDelay = time.Second
	asNobody(cmd)
	_ = cmd.Run() // its status is the script's business
	if ctx.Err() != nil {
		t.Fatalf("script did not end:\n%s", script)
	}
	return l.read(t)
}

func (l *lab) reset(t *testing.T) {
	t.Helper()
	for _, d := range []string{l.home, filepath.Join(l.home, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a", "b", "file.txt"} {
		if err := os.WriteFile(filepath.Join(l.home, f), []byte("one two\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.log, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.log, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) read(t *testing.T) [][]string {
	t.Helper()
	data, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for record := range bytes.SplitSeq(data, []byte("END\nEND\x00")) {
		if len(record) > 0 {
			out = append(out, strings.Split(strings.TrimSuffix(string(record), "\x00"), "\x00"))
		}
	}
	return out
}

// compare fails the test when something ran that the facts know nothing of; it reports whether they were complete.
func (l *lab) compare(t *testing.T, script string) bool {
	t.Helper()
	home := l.next()
	facts := Analyze(script, Options{Cwd: home, Workspace: home, Home: home})
	if len(facts.Incomplete) > 0 {
		return false
	}
	for _, argv := range l.ran(t, script) {
		if !listed(facts, argv) && !asScript(facts, argv[0]) {
			t.Errorf("not listed: %q\nscript:\n%s\nfacts:\n%s", argv, script, commandLines(facts))
			return true
		}
	}
	return true
}

// asScript reports whether a shell was given a recorder as its script: that then is what ran.
func asScript(facts Analysis, name string) bool {
	return slices.ContainsFunc(facts.Shell.Commands, func(c record.Command) bool {
		_, shell := findInterpreter(c.Name)
		return shell && slices.ContainsFunc(c.Argv, func(w *string) bool { return w != nil && *w == name })
	})
}

func listed(facts Analysis, argv []string) bool {
	return slices.ContainsFunc(facts.Shell.Commands, func(c record.Command) bool { return c.Name == argv[0] && covers(c.Argv[1:], argv[1:]) })
}

// covers reports whether the words of a fact may be these: null, or a pattern, stands for any number of words.
func covers(words []*string, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	if w := words[0]; w != nil && !strings.ContainsAny(*w, "*?[") {
		return len(argv) > 0 && argv[0] == *w && covers(words[1:], argv[1:])
	}
	for n := range len(argv) + 1 {
		if covers(words[1:], argv[n:]) {
			return true
		}
	}
	return false
}

func commandLines(a Analysis) string {
	var b strings.Builder
	for _, c := range a.Shell.Commands {
		fmt.Fprintf(&b, "  %d:%d %v %v", c.Line, c.Column, c.Wrappers, c.Within)
		for _, w := range c.Argv {
			if w == nil {
				b.WriteString(" null")
			} else {
				fmt.Fprintf(&b, " %q", *w)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// bashWords is what bash makes of a word, with a bar between the words it becomes.
func bashWords(t *testing.T, word string) string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "-c", `p() { local IFS='|'; printf %s "$*"; }; p `+word)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", word, err)
	}
	return string(out)
}
