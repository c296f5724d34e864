//go:build amd64 || arm64

package faultinject

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process is what /proc shows of the process of a thread.
type Process struct {
	PID, Parent int
	Addresses   int // VmSize: the size of the address space, in KiB
}

// ProcessOf returns the process of a thread, zero if it has ended.
func ProcessOf(tid uint32) (p Process) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "Tgid":
			p.PID, _ = strconv.Atoi(strings.TrimSpace(value))
		case "PPid":
			p.Parent, _ = strconv.Atoi(strings.TrimSpace(value))
		case "VmSize":
			p.Addresses, _ = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		}
	}
	return p
}
