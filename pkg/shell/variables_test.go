package shell

import "testing"

// TestUsualPrograms: an everyday compiler in a variable is no command of its own, so that the tool
// stays the one that runs; anything else is listed, and judged like a command.
func TestUsualPrograms(t *testing.T) {
	for value, want := range map[string]bool{
		"gcc": true, "clang-14": true, "aarch64-linux-gnu-gcc-13": true, "/usr/bin/g++": true, "ccache gcc -m32": true, "bash": true, "/bin/bash": true, "x86_64-w64-mingw32-ar": true,
		"": false, "./gcc": false, "/tmp/gcc": false, "../bin/cc": false, "/usr/bin/../../tmp/gcc": false, "bash -c x": false, "sh x": false, "gcc; rm x": false, "$(x)gcc": false, "rm": false,
		"git push": false, "ccache ./x": false, "ccache": false, "evilgcc": false, "gcc `x`": false, "gcc\nrm x": false, "a/x-gcc": false,
	} {
		if usual(value) != want {
			t.Errorf("%q: %t", value, !want)
		}
	}
	for script, want := range map[string]int{
		"make CC=clang": 1, "make CC=./x": 2, "make SHELL=./x": 2, "make 'V!=./x'": 2, "make 'V=$(shell ./x)'": 2, "make V=./x": 1, "make CC=\"$CC\"": 1, "CC=./x make": 2, "CC=gcc make": 1,
		"GOFLAGS='-v -toolexec=./x' go build": 2, "GOFLAGS=-mod=mod go build": 1, "MAKEFLAGS='--eval=$(shell ./x)' make": 2, "man -P./x ls": 2, "go test -exec ./x": 2,
	} {
		if got := Analyze(script, Options{}).Shell.Commands; len(got) != want {
			t.Errorf("%s: %d commands, want %d", script, len(got), want)
		}
	}
}
