package ethosargs

import (
	"slices"
	"strings"
	"testing"
)

// words makes a command line of text: a word that begins with ? is not known
// but for what follows it, one that begins with * may be several.
func words(text string) (out []Word) {
	for _, w := range strings.Fields(text) {
		switch w[0] {
		case '?':
			out = append(out, Word{Text: w[1:]})
		case '*':
			out = append(out, Word{Text: w[1:], Many: true})
		default:
			out = append(out, Word{Text: w, Known: true})
		}
	}
	return out
}

// What is known in full is compared with the programs' own parser, in the tests
// of cmd/ethos-*. These are the words that are not.
func TestWordsThatAreNotKnown(t *testing.T) {
	for _, c := range []struct {
		program, line, want string
	}{
		{"ethos-sandbox", "run ? -- make", "run [] … rest"},
		{"ethos-sandbox", "run ?--rw= -- make", "run [rw=?] rest"},
		{"ethos-sandbox", "run *--rw= -- make", "run [rw=?] … rest"},
		{"ethos-sandbox", "run --rw ? -- make", "run [rw=?] rest"},
		{"ethos-sandbox", "run --rw * -- make", "run [rw=?] … rest"},
		{"ethos-sandbox", "run --rw=x ?--bogus= -- make", "run [rw=x] … rest"},
		{"ethos-sandbox", "run -- ? --rw", "run [] rest"},
		{"ethos-sandbox", "run make * --rw", "run [] rest"},
		{"ethos-sandbox", "? run -- make", "run [] … rest"},
		{"ethos-sandbox", "-- ? run", "run [] …"},
		{"ethos-sandbox", "plan ? --rw / -- make", "plan [rw=/] rest"},
		{"ethos-facts", "? -- make", "derive [] … rest"},
		{"ethos-facts", "-- ?", "derive [] rest"},
		{"ethos-facts", "-c ?", "derive [command=?]"},
		{"ethos-facts", "-c *", "derive [command=?] …"},
		{"ethos-trace", "show ?", "show []"},
		{"ethos-trace", "? show x", "show [] …"},
		{"ethos-trace", "report ?", "report [] …"},
		{"ethos-decide", "hook ? claude", " [] … claude"},
	} {
		p, _ := Find(c.program)
		call := Read(p, words(c.line))
		var given []string
		for _, g := range call.Given {
			value := g.Value
			if !g.Known {
				value = "?"
			}
			given = append(given, g.Option.Name+"="+value)
		}
		got := strings.Join(append([]string{call.Name(), "[" + strings.Join(given, " ") + "]"}, call.Unknown...), " ")
		if call.Rest >= 0 {
			got += " rest"
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.program, c.line, got, c.want)
		}
	}
}

func TestEveryOptionHasAClass(t *testing.T) {
	for _, p := range Programs() {
		for _, c := range p.Commands {
			if i := slices.IndexFunc(c.Options, func(o Option) bool { return o.Class == unclassed }); i >= 0 {
				t.Errorf("%s %s --%s", p.Name, c.Name, c.Options[i].Name)
			}
		}
	}
}

func TestVariables(t *testing.T) {
	for name, want := range map[string]bool{"ETHOS_MODE": true, "HOME": true, "PATH": true, "LD_PRELOAD": true, "XDG_STATE_HOME": true, "CI": false, "PATHS": false, "XDG_DATA_HOME": false} {
		if Steers(name) != want {
			t.Errorf("Steers(%s) is %t", name, !want)
		}
	}
	for name, want := range map[string]bool{"LD_AUDIT": true, "BASH_ENV": true, "NODE_OPTIONS": true, "GIT_SSH_COMMAND": true, "CI": false, "GOFLAGS": false, "HOME": false} {
		if Loads(name) != want {
			t.Errorf("Loads(%s) is %t", name, !want)
		}
	}
}
