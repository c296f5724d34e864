package snippet

import (
	"strings"
	"testing"
)

// TestCommandsOfTasks: the code of the goals and of what they need, and no other code of the file.
func TestCommandsOfTasks(t *testing.T) {
	for _, c := range []struct {
		name        string
		kind        TaskFile
		file, goals string
		want        string
	}{
		{"first rule", Makes, ".PHONY: a\na: b\n\techo a\nb:\n\t@echo b\nc:\n\techo c\n", "", "echo a|echo b"},
		{"goal", Makes, "a:\n\techo a\nc d: ; echo c\n", "d", "echo c"},
		{"pattern", Makes, "%.o: %.c\n\tcc $<\na:\n\techo a\n", "x.o", "cc ${make_}"},
		{"variables", Makes, "D ?= ~\nE := $(D)/x\na:\n\t-rm $(E) ${F} $$G\n", "a", "rm ~/x ${make_} $G"},
		{"shell", Makes, "V != id\nW := $(shell date (a))\na:\n\techo $(shell pwd)\n", "a", "id|date (a)|pwd|echo ${make_}"},
		{"continued", Makes, "a:\n\techo a \\\n\t b\n", "a", "echo a  \t b"},
		{"cycle", Makes, "a: b\n\techo a\nb: a\n\techo b\n", "a", "echo a|echo b"},
		{"self", Makes, "A = $(A)\na:\n\techo $(A)\n", "a", "echo $(A)"},
		{"recipe", Just, "set shell := ['sh']\nd := '~'\n\nx a='1': y (z 'q')\n    @ls {{d}} {{ a }}\ny:\n    echo y\nz q:\n    echo z\nw:\n    echo w\n", "", "ls ~ ${a_}|echo y|echo z"},
		{"backtick", Just, "v := `id`\nx:\n  ls\n", "x", "id|ls"},
		{"task", Taskfile, "version: '3'\nvars:\n  V:\n    sh: id\ntasks:\n  default:\n    deps: [a]\n    desc: rm x\n  a:\n    cmds:\n      - echo 'a'\n      - cmd: \"echo b\"\n      - task: c\n      - |\n        echo d\n  c: echo {{.X}}\n  e:\n    - echo e\n", "", "id|a|echo 'a'|echo b|c|echo d|echo ${X_}"},
		{"list", Taskfile, "tasks:\n  a:\n    cmds: ['echo ''x''', echo y]\n", "a", "echo 'x'|echo y"},
		{"script", Scripts, `{"scripts":{"a":"ls","b":"rm"},"name":"x"}`, "a", "ls"},
		{"scripts", Scripts, `{"scripts":{"a":["ls","id"]},"tasks":{"b":{"command":"w"}}}`, "a b", "ls|id|w"},
		{"none", Scripts, `{"scripts":{"a":"ls"}}`, "", ""},
		{"no file", Scripts, `{`, "a", ""},
	} {
		if got := strings.Join(Commands(c.kind, c.file, strings.Fields(c.goals), nil), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Commands(Makes, "D = a\nx:\n\trm $(D)\n", nil, map[string]string{"D": "~"}); len(got) != 1 || got[0] != "rm ~" {
		t.Errorf("a variable of the command line: %q", got)
	}
}
