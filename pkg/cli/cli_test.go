package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

type grammar struct {
	Pass passCmd `cmd:"" default:"withargs" help:"Pass words."`
	Run  runCmd  `cmd:"" help:"Run a child."`
}

type passCmd struct {
	Mode  string `enum:"plan,safe" default:"safe" help:"How it's trusted: \\ and - and .dot."`
	Fail  string `help:"Which failure."`
	Log   string `placeholder:"FILE" help:"A file."`
	Words Argv   `arg:"" optional:"" passthrough:"" help:"Words."`
}

func (c *passCmd) Run(ctx context.Context, sys *System) error {
	switch c.Fail {
	case "negative":
		return Negative
	case "input":
		return Errorf(BadInput, "mend it", "read x: %w", errors.New("bad \x1b[31m"))
	case "plain":
		return errors.New("unexpected")
	case "panic":
		panic("boom")
	case "print":
		sys.Print("text")
		return nil
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := sys.Stdout.Write([]byte(strings.Join(c.Words.Words(), "|")))
	return err
}

type runCmd struct {
	Fail   bool   `help:"Fail."`
	Print  bool   `help:"Print."`
	Color  string `help:"A colour."`
	Stroke string `arg:"" optional:"" help:"A colour, too."`
}

func (*runCmd) Kind() Kind { return Runner }

func (c *runCmd) Run(sys *System) error {
	if c.Print {
		sys.Printf("%s", "text")
	}
	if c.Fail {
		panic("boom")
	}
	return Exit(42)
}

func program() Program {
	return Program{
		Name: "ethos-x", Summary: "tries things - at -home", Description: "First \\paragraph.\n\n.second", Commands: &grammar{},
		Examples: []Example{{"ethos-x -- a", "passes a"}},
		Values: func() map[string][]string {
			colors := []string{"red", "green"}
			return map[string][]string{"--color": colors, "<stroke>": colors}
		},
	}
}

func run(t *testing.T, args ...string) (status Status, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	sys := &System{Name: "ethos-x", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: "/", Now: time.Now, Environ: []string{"A=1", "A=2"}}
	if sys.Getenv("A") != "2" || sys.Getenv("B") != "" {
		t.Error("Getenv")
	}
	status = program().Run(context.Background(), sys, args)
	return status, out.String(), errs.String()
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		args           string
		status         Status
		stdout, stderr string
	}{
		{"", OK, "", ""},
		{"-- a -b -- c", OK, "a|-b|--|c", ""},
		{"--fail=negative", NegativeStatus, "", ""},
		{"--fail=input", BadInput, "", "ethos-x: error: read x: bad \\x1b[31m\nethos-x: hint: mend it\n"},
		{"--fail=plain", BadInput, "", "ethos-x: error: unexpected\n"},
		{"--fail=panic", BadInput, "", "ethos-x: error: internal error: boom"},
		{"--bogus", Usage, "", "ethos-x: error: unknown flag --bogus\nethos-x: hint: ethos-x --help shows the usage\n"},
		{"--fial=x", Usage, "", "unknown flag --fial\nethos-x: hint: did you mean --fail? ethos-x --help shows the usage\n"},
		{"run --vresion", Refused, "", "unknown flag --vresion\nethos-x: hint: did you mean --version? ethos-x run --help shows the usage\n"},
		{"--mode=x", Usage, "", "must be one of"},
		{"run", 42, "", ""},
		{"run --bogus", Refused, "", "unknown flag --bogus\nethos-x: hint: ethos-x run --help shows the usage\n"},
		{"run --fail", Refused, "", "internal error"},
		{"--version", OK, "ethos-x devel", ""},
		{"--help", OK, "Usage: ethos-x", ""},
		{"run --help", OK, "Usage: ethos-x run", ""},
		{"--help", OK, "\nOther commands (ethos-x COMMAND --help):\n  run       Run a child.\n", ""},
		{"--completion=tcsh", Usage, "", "no completion for shell"},
		{"--schema", OK, "$schema", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			status, stdout, stderr := run(t, strings.Fields(c.args)...)
			if status != c.status || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
				t.Errorf("got %d\nstdout %q\nstderr %q\nwant %d\nstdout %q\nstderr %q", status, stdout, stderr, c.status, c.stdout, c.stderr)
			}
			if (stderr == "") != (c.stderr == "") || status != OK && stdout != "" {
				t.Errorf("unexpected text: stdout %q stderr %q", stdout, stderr)
			}
		})
	}
}

// A file name need not be UTF-8, and no other name may run in its place.
func TestWordsAreTakenByteForByte(t *testing.T) {
	if status, stdout, stderr := run(t, "--", "ls", "a\xff", ""); status != OK || stdout != "ls|a\xff|" {
		t.Errorf("got %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if _, _, stderr := run(t, "--mode", "x\xff"); !strings.Contains(stderr, `"x\xff"`) {
		t.Errorf("a flag's value: stderr %q", stderr)
	}
}

// What a command prints and cannot write is an error, also where the command does not look.
func TestUnwrittenOutputIsAnError(t *testing.T) {
	full := errors.New("full")
	for _, c := range []struct {
		args   []string
		status Status
	}{{[]string{"--fail=print"}, BadInput}, {[]string{"run", "--print"}, 42}} {
		var errs bytes.Buffer
		sys := &System{Name: "ethos-x", Stdout: failing{full}, Stderr: &errs, Dir: "/"}
		if status := program().Run(t.Context(), sys, c.args); status != c.status || (c.status == BadInput) != (errs.String() == "ethos-x: error: full\n") {
			t.Errorf("%q: %d %q, want %d", c.args, status, errs.String(), c.status)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A program that is started in no directory says so, with a status of its kind; help needs none.
func TestNoDirectory(t *testing.T) {
	for _, c := range []struct {
		args   string
		status Status
		stderr bool
	}{{"", BadInput, true}, {"run", Refused, true}, {"--bogus", Usage, true}, {"--help", OK, false}, {"--version", OK, false}} {
		var out, errs bytes.Buffer
		sys := &System{Name: "ethos-x", Stdout: &out, Stderr: &errs, noDirectory: &fs.PathError{Op: "stat", Path: ".", Err: syscall.EACCES}}
		status := program().Run(t.Context(), sys, strings.Fields(c.args))
		if status != c.status || (errs.Len() > 0) != c.stderr {
			t.Errorf("%q: %d %q, want %d", c.args, status, errs.String(), c.status)
		}
		if c.args == "run" && errs.String() != "ethos-x: error: working directory: stat .: permission denied\nethos-x: hint: change to a directory that exists and that you may enter\n" {
			t.Errorf("%q", errs.String())
		}
	}
}

// A program whose commands stand behind a word names them with it.
func TestUnder(t *testing.T) {
	p := program()
	p.Under = "own"
	for args, want := range map[string]string{"--bogus": "hint: ethos-x own --help shows the usage\n", "--help": "Usage: ethos-x own ", "--man": "\"ethos\\-x own\"", "--completion=bash": " _ethos_x ethos-x\n"} {
		var out bytes.Buffer
		p.Run(t.Context(), &System{Name: "ethos-x", Stdout: &out, Stderr: &out, Dir: "/"}, []string{args})
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s\nwant %s", args, out.String(), want)
		}
	}
}

func TestInterruptedIsToldApart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	sys := &System{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	if got := program().Run(ctx, sys, []string{"--fail=wait"}); got != Interrupted {
		t.Errorf("got %d", got)
	}
}

func TestManualIsCleanRoff(t *testing.T) {
	probetest.Need(t, "command:man")
	_, page, _ := run(t, "--man")
	file := filepath.Join(t.TempDir(), "x.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", file)
	cmd.Env = append(os.Environ(), "MANWIDTH=100", "LC_ALL=C.UTF-8")
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	shown, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Fatalf("%v: %s", err, warnings.String())
	}
	for _, want := range []string{"ethos-x - tries things", ".second", `First \paragraph.`, "--mode=STRING", "EXIT STATUS", "128+n", "ethos-x -- a"} {
		if want == "--mode=STRING" {
			want = "--mode="
		}
		if !strings.Contains(string(shown), want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}

func TestBashCompletion(t *testing.T) {
	probetest.Need(t, "command:bash")
	_, script, _ := run(t, "--completion=bash")
	for _, c := range []struct{ words, want string }{
		{"ethos-x --m", "--mode"},
		{"ethos-x r", "run"},
		{"ethos-x run --f", "--fail"},
		{"ethos-x --mode p", "plan"},
		{"ethos-x --mode = p", "plan"},
		{"ethos-x --mode =", "plan safe"},
		{"ethos-x run --color r", "red"},
		{"ethos-x run gre", "green"},
		{"ethos-x --fail x", ""},
	} {
		words := strings.Fields(c.words)
		ask := script + "\nCOMP_WORDS=(" + c.words + "); COMP_CWORD=" + string(rune('0'+len(words)-1)) + "; _ethos_x; echo ${COMPREPLY[@]}"
		out, err := exec.Command("bash", "-c", ask).CombinedOutput()
		if err != nil || !strings.Contains(" "+string(out), c.want) || c.want == "" && strings.TrimSpace(string(out)) != "" {
			t.Errorf("%s: got %q, %v; want %q", c.words, out, err, c.want)
		}
	}
}

// TestZshCompletion calls the function with stand-ins for what only zsh's own
// completion has, which print what they are given.
func TestZshCompletion(t *testing.T) {
	probetest.Need(t, "command:zsh")
	_, script, _ := run(t, "--completion=zsh")
	const standins = "compdef() {}; _files() { print FILES }; _message() { print NONE }; _describe() { print -l -- $candidates }; compset() { }; compadd() { print -- $@ }\n"
	for _, c := range []struct{ words, current, want string }{
		{"ethos-x --mode ''", "3", "plan safe"},
		{"ethos-x --mode=p", "2", "plan safe"},
		{"ethos-x run --color ''", "4", "red green"},
		{"ethos-x run ''", "3", "green:"},
		{"ethos-x --fail ''", "3", "NONE"},
		{"ethos-x --log ''", "3", "FILES"},
	} {
		ask := standins + script + "\nwords=(" + c.words + "); CURRENT=" + c.current + "; PREFIX=$words[CURRENT]; _ethos_x"
		out, err := exec.Command("zsh", "-f", "-c", ask).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: got %q, %v; want %q", c.words, out, err, c.want)
		}
	}
}

func TestFishCompletion(t *testing.T) {
	probetest.Need(t, "command:fish")
	_, script, _ := run(t, "--completion=fish")
	for _, c := range []struct{ line, want, not string }{
		{"ethos-x --mode ", "plan", "run"},
		{"ethos-x --mode=", "--mode=safe", "run"},
		{"ethos-x run --color ", "red", "run"},
		{"ethos-x run ", "green", "plan"},
	} {
		out, err := exec.Command("fish", "--no-config", "-c", script+"\ncomplete -C "+bashQuote(c.line)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), c.not+"\t") {
			t.Errorf("%s: got %q, %v; want %q", c.line, out, err, c.want)
		}
	}
}

func TestOtherCompletionsAreWellFormed(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			probetest.Need(t, "command:"+shell)
			_, script, _ := run(t, "--completion="+shell)
			cmd := exec.Command(shell, "-n", "/dev/stdin")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s\n%s", err, out, script)
			}
		})
	}
}
