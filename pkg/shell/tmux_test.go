package shell

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// TestTmuxTable compares the commands of tmux with what the installed one says of itself: all that
// take code or commands are known, and so are the options with an argument.
func TestTmuxTable(t *testing.T) {
	probetest.Need(t, "command:tmux")
	list := exec.Command("tmux", "-S", t.TempDir()+"/s", "-f", os.DevNull, "list-commands")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	usage := regexp.MustCompile(`^([a-z-]+)(?: \(([a-z]+)\))? ?((?:\[-.*?\] ?)*)(.*)$`)
	option := regexp.MustCompile(`\[-([A-Za-z]) [a-z-]+\]`)
	runs := regexp.MustCompile(`shell-command|\bcommand|template|^key \.\.\.|option`)
	for line := range strings.Lines(string(out)) {
		m := usage.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Errorf("not a usage: %s", line)
			continue
		}
		name, alias, options, operands := m[1], m[2], m[3], m[4]
		kind := findTmux(name)
		switch known := kind != nil && kind.name == name; {
		case !known && (strings.HasPrefix(name, "list-") || strings.HasPrefix(name, "show-")):
			continue
		case !known && (runs.MatchString(operands) || strings.Contains(options, "shell-command")):
			t.Errorf("%s is not known: %s", name, line)
			continue
		case !known:
			if k := findTmux(alias); alias != "" && k != nil {
				t.Errorf("%s, which is %s, is taken for %s", alias, name, k.name)
			}
			continue
		case kind.alias != alias:
			t.Errorf("the alias of %s is %q, not %q", name, alias, kind.alias)
		}
		var arguments string
		for _, o := range option.FindAllStringSubmatch(options, -1) {
			if arguments += o[1]; !strings.Contains(kind.options, o[1]+":") {
				t.Errorf("%s: -%s has an argument", name, o[1])
			}
		}
		flags, _, _ := strings.Cut(strings.TrimPrefix(options, "[-"), "]")
		if strings.Contains(flags, " ") {
			continue // it has none
		}
		for _, flag := range flags {
			if strings.Contains(kind.options, string(flag)+":") && !strings.ContainsRune(arguments, flag) { // of split-window, 3.3 lists -e twice
				t.Errorf("%s: -%c has no argument", name, flag)
			}
		}
	}
}

// TestTmuxLimit: text with more commands than are followed makes the facts incomplete. Text in which
// each command could be a part of all before it does not.
func TestTmuxLimit(t *testing.T) {
	for text, incomplete := range map[string]bool{
		strings.Repeat("bind a bind b send c ; run d ; ", 20): false,
		strings.Repeat("{ ", 1000) + strings.Repeat("} ", 10): true,
	} {
		got := Analyze("tmux bind x '"+text+"'", Options{}).Incomplete
		if slices.Contains(got, record.IncompleteSize) != incomplete {
			t.Errorf("%.40s…: %v", text, got)
		}
	}
}
