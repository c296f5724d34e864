package main

import (
	"io/fs"
	"regexp"
	"strings"
)

// confinedProcess are the lines of /proc/PID/status (proc_pid_status(5)) of every process in the boundary of ethos-sandbox.
var confinedProcess = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^CapBnd:\s0+$`),
	regexp.MustCompile(`(?m)^NoNewPrivs:\s1$`),
	regexp.MustCompile(`(?m)^Seccomp:\s2$`),
}

// inside reports whether this process runs in the boundary of ethos-sandbox already, as then does the agent whose hook it is, and every call of its
// shell: there is no boundary within the boundary. A command cannot pretend it, for the hook is a child of the agent.
func inside(proc fs.FS) bool {
	first, err := fs.ReadFile(proc, "1/comm")
	if err != nil || strings.TrimSpace(string(first)) != "ethos-init" {
		return false
	}
	own, err := fs.ReadFile(proc, "self/status")
	if err != nil {
		return false
	}
	for _, line := range confinedProcess {
		if !line.Match(own) {
			return false
		}
	}
	return true
}
