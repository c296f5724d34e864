package session

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
)

// processes lists what is alive below a process in other PID namespaces, but for
// the first two of the boundary, which are ethos's: proc_pid_status(5).
func processes(root int) []Process {
	parents := map[int]int{}
	inside := map[int]int{}
	entries, _ := os.ReadDir("/proc") // none where there is no /proc
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

// descends follows the parents of a process. They can change while they are read,
// so that their chain might not end.
func descends(parents map[int]int, pid, root int) bool {
	for range len(parents) {
		if pid = parents[pid]; pid == root || pid == 0 {
			return pid == root
		}
	}
	return false
}

type processStatus struct{ parent, inside int }

// parseStatus reads the parent and the innermost pid of a process that is alive
// and not in the PID namespace of whoever asks.
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

// maxLine bounds what is told of a command line.
const maxLine = 4096

// commandLine is what a process was started with, or its name.
func commandLine(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(dir + "/cmdline")
	if text = bytes.TrimRight(text, "\x00"); err != nil || len(text) == 0 {
		name, _ := os.ReadFile(dir + "/comm")
		return "[" + strings.TrimSpace(string(name)) + "]"
	}
	return strings.ReplaceAll(string(text[:min(len(text), maxLine)]), "\x00", " ")
}
