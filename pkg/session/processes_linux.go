package session

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// processes lists the live processes below root in other PID namespaces, except
// for ethos's own first two processes of the boundary: proc_pid_status(5).
func processes(root int) []Process {
	parents := map[int]int{}
	inside := map[int]int{}
	entries, _ := os.ReadDir("/proc") // empty without /proc
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil {
			continue
		}
		if p, ok := parseStatus(string(text)); ok {
			parents[pid], inside[pid] = p.parent, p.inside
		}
	}
	var list []Process
	for pid, number := range inside {
		if number > 2 && descends(parents, pid, root) {
			list = append(list, Process{PID: pid, Inside: number, Line: commandLine(pid)})
		}
	}
	slices.SortFunc(list, func(a, b Process) int { return a.Inside - b.Inside })
	return list
}

// descends follows the parents of a process. The parents can change while they
// are read, so the chain might have a cycle; the loop is limited.
func descends(parents map[int]int, pid, root int) bool {
	for range len(parents) {
		if pid = parents[pid]; pid == root || pid == 0 {
			return pid == root
		}
	}
	return false
}

type processStatus struct{ parent, inside int }

// parseStatus returns the parent and the innermost PID of a process. ok is
// false for a dead process and for one in the caller's PID namespace.
func parseStatus(text string) (p processStatus, ok bool) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		switch {
		case name == "State" && len(fields) > 0 && fields[0] == "Z":
			return p, false
		case name == "PPid" && len(fields) == 1:
			p.parent, _ = strconv.Atoi(fields[0])
		case name == "NSpid" && len(fields) > 1:
			p.inside, _ = strconv.Atoi(fields[len(fields)-1])
		}
	}
	return p, true
}

// maxLine limits the length of a reported command line, in bytes.
const maxLine = 4096

// commandLine returns the command line with which a process was started, or its
// name.
func commandLine(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(dir + "/cmdline")
	if text = bytes.TrimRight(text, "\x00"); err != nil || len(text) == 0 {
		name, _ := os.ReadFile(dir + "/comm")
		return "[" + strings.TrimSpace(string(name)) + "]"
	}
	return strings.ReplaceAll(string(text[:min(len(text), maxLine)]), "\x00", " ")
}
