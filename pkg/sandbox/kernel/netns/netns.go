// Package netns brings up the loopback interface of a new network namespace, and reads back how far a namespace reaches.
//
// [LoopbackSteps] are the kernel calls for a child in a namespace of its own; [Read] looks at the namespace of a process from outside.
//
// # Limits
//
// Read needs proc(5) and sees interfaces and local addresses, not firewall rules.
package netns

import (
	"bytes"
	"fmt"
	"strconv"
)

// State is what a network namespace has.
type State struct {
	Interfaces []string // names, as in /proc/net/dev
	LoopbackUp bool     // 127.0.0.1 is a local address
}

// Read returns the state of the namespace that a process is in; read reads a whole file.
func Read(pid int, read func(path string) ([]byte, error)) (State, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/net/"
	dev, err := read(dir + "dev")
	if err != nil {
		return State{}, fmt.Errorf("network namespace: %w", err)
	}
	trie, err := read(dir + "fib_trie")
	if err != nil {
		return State{}, fmt.Errorf("network namespace: %w", err)
	}
	return State{Interfaces: interfaces(dev), LoopbackUp: bytes.Contains(trie, []byte("127.0.0.1"))}, nil
}

// interfaces reads the names from /proc/net/dev: two lines of heading, then "name: numbers".
func interfaces(text []byte) []string {
	names := []string{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && i >= 2 {
			names = append(names, string(bytes.TrimSpace(name)))
		}
	}
	return names
}
