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
		"rustc -Clinker=./x a.rs": 2, "rustc -C linker=lld a.rs": 1, "rustc -C linker=\"$X\" a.rs": 1, "RUSTFLAGS='-g -C linker=./x' cargo build": 2, "CARGO_TARGET_X_LINKER=./x cargo build": 2, "CARGO_TARGET_DIR=./x cargo build": 1,
		"gcc -wrapper ./x,-v a.c": 2, "gcc -fplugin=x a.c": 1, "gcc -fplugin=./x a.c": 2, "go build -ldflags '-s -extld ./x'": 2, "go build -ldflags '-s -X a=./x'": 1,
		"apt-get -o APT::Update::Pre-Invoke::=./x update": 2, "apt-get -o Acquire::Retries=3 update": 1, "cmake -DCMAKE_C_COMPILER:PATH=./x .": 2, "cmake -DCMAKE_C_COMPILER_ID=GNU .": 1,
		"hg --config 'alias.x=!./x' x": 2, "hg --config ui.username=./x commit": 1, "ssh -o 'ProxyCommand none' h": 1, "ssh -o PKCS11Provider=./x h": 2,
		"rpm --eval '%(./x $(y))'": 3, "rpm --eval '%{_libdir}'": 1, "latex '\\write18{./x {a}}'": 2, "fzf --bind 'a:execute(./x $(y))+abort,b:become[./z]'": 4, "fzf --bind 'start:reload:./x'": 2,
	} {
		if got := Analyze(script, Options{}).Shell.Commands; len(got) != want {
			t.Errorf("%s: %d commands, want %d", script, len(got), want)
		}
	}
}
