package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManuals: docs/man is what the programs print; `make docs` writes it.
func TestManuals(t *testing.T) {
	s := newSession(t)
	for _, program := range programs {
		printed := s.shell(own(program) + " --man").mustSucceed(t).stdout
		committed, err := os.ReadFile(filepath.Join(root(), "docs/man", program+".1"))
		if err != nil {
			t.Fatal(err)
		}
		if printed != string(committed) {
			t.Errorf("docs/man/%s.1 is out of date: run `make docs`", program)
		}
	}
}

// own is how a program's own options are reached: those of ethos-git itself are git's.
func own(program string) string {
	if program == "ethos-git" {
		return "ethos-git ethos"
	}
	return program
}

// TestEveryProgramAnswers: the options that all programs have.
func TestEveryProgramAnswers(t *testing.T) {
	s := newSession(t)
	schema := s.shell("ethos-facts --schema").mustSucceed(t).stdout
	for _, program := range programs {
		for option, want := range map[string]string{
			"--help": program, "--version": program + " ", "--schema": schema,
			"--completion bash": program, "--completion zsh": program, "--completion fish": program,
		} {
			o := s.shell(own(program) + " " + option).mustSucceed(t)
			if !strings.Contains(o.stdout, want) || o.stderr != "" {
				t.Errorf("%v", o)
			}
		}
	}
}
