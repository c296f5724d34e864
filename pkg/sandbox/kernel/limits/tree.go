package limits

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Tree is the processes below one init process, as a proc file system shows
// them: proc(5). A process belongs to the tree through its ancestors: one whose
// parent ends becomes a child of the next subreaper or of the namespace's init,
// prctl(2) PR_SET_CHILD_SUBREAPER, so nothing leaves it.
type Tree struct {
	Proc string // its mount point; "" is /proc
	Init int    // the ancestor of all other processes, as numbered in that file system
	// Of, if set, reports whether a process counts. Those below it are
	// examined in any case.
	Of func(pid int) bool
	// Held, if set, returns how much shared memory the processes hold,
	// mapped or not; see [Shared.Held]. The larger of this and of what they
	// have mapped is counted, because most of it is the same memory.
	Held func(pids []int, exact bool) int64
}

// Sample is one measurement of a tree. What is in swap is not counted.
type Sample struct {
	Processes int   // counted processes, including init
	Threads   int   // of these processes, together
	Bytes     int64 // resident memory
	// Exact says that memory shared between processes was counted once (Pss
	// of smaps_rollup). Otherwise Bytes is the sum over all processes, in
	// which pages shared since fork(2) are counted for each.
	Exact bool
	Full  bool // the tree exceeded the bound of one measurement, so Bytes is too small
}

// maxReads bounds the files that are read for one sample, so that a fork bomb
// does not slow down the watch that is to end it.
const maxReads = 20000

// look is a sample being taken.
type look struct {
	tree   Tree
	exact  bool
	reads  int
	sample Sample
	pids   []int
	mapped int64 // shared memory in page tables
}

// member is a process of the tree and the one it was found under.
type member struct{ pid, parent int }

// Sample measures the anonymous and shared memory of each process of the tree,
// without mapped files. If exact is set, it reads smaps_rollup, for which the
// kernel walks the process's memory; a process whose smaps_rollup cannot be
// read is measured by its status. If init is gone, the sample is empty. The
// kernel does not stop the tree meanwhile: a process that is made after its
// parent was read is missed, and counted by the next sample. RssAnon and
// RssShmem exist since Linux 4.5, smaps_rollup since 4.14.
func (t Tree) Sample(exact bool) (Sample, error) {
	l := look{tree: t, exact: exact, sample: Sample{Exact: exact}}
	if t.Proc == "" {
		l.tree.Proc = "/proc"
	}
	todo := []member{{pid: t.Init}}
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.reads > maxReads {
			l.sample.Full = true
			break
		}
		children, err := l.process(m)
		if err != nil && !gone(err) {
			return Sample{}, fmt.Errorf("sample of the processes under %d: %w", t.Init, err)
		}
		for _, pid := range children {
			todo = append(todo, member{pid, m.pid})
		}
	}
	if t.Held != nil && len(l.pids) > 0 {
		l.mapped = max(l.mapped, t.Held(l.pids, exact))
	}
	l.sample.Bytes += l.mapped
	return l.sample, nil
}

// gone reports whether a process ended while it was being examined.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNoProcess(err) }

// process counts one process and returns its children.
func (l *look) process(m member) ([]int, error) {
	text, err := l.read(m.pid, "status")
	if err != nil {
		return nil, err
	}
	status := fields(text)
	if l.tree.Of == nil || l.tree.Of(m.pid) {
		l.count(m, status)
	}
	return l.children(m.pid, status["Threads"])
}

// count adds one process to the sample.
func (l *look) count(m member, status map[string]int64) {
	l.sample.Processes++
	l.sample.Threads += int(status["Threads"])
	l.pids = append(l.pids, m.pid)
	own, mapped := l.bytes(m, status)
	l.sample.Bytes += own
	l.mapped += mapped
}

// bytes returns the memory of one process and the shared memory that it has
// mapped.
func (l *look) bytes(m member, status map[string]int64) (own, mapped int64) {
	if _, ok := status["RssAnon"]; !ok && status["Threads"] > 1 {
		status = l.liveThread(m.pid)
	}
	own, mapped = status["RssAnon"]<<10, status["RssShmem"]<<10
	if !l.exact || own+mapped == 0 { // the second means that it has ended and was not reaped
		return own, mapped
	}
	if m.parent != 0 && l.tree.Proc == "/proc" && sameMemory(m.pid, m.parent) {
		return 0, 0 // between vfork(2) and execve(2)
	}
	if exact, shared, ok := l.exactBytes(m.pid); ok {
		return exact, shared
	}
	l.sample.Exact = false
	return own, mapped
}

// liveThread returns the status of a thread that still has the process's
// memory: a main thread that has ended has none while the others go on.
func (l *look) liveThread(pid int) map[string]int64 {
	tasks, err := os.ReadDir(filepath.Join(l.tree.Proc, strconv.Itoa(pid), "task"))
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		text, err := l.read(pid, "task/"+task.Name()+"/status")
		if err != nil || l.reads > maxReads {
			continue
		}
		if status := fields(text); status["RssAnon"]+status["RssShmem"] > 0 {
			return status
		}
	}
	return nil
}

func (l *look) read(pid int, name string) (string, error) {
	l.reads++
	text, err := os.ReadFile(filepath.Join(l.tree.Proc, strconv.Itoa(pid), name))
	return string(text), err
}

// children returns the children of all threads: proc(5),
// /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). The list is reliable only
// if no child ends while it is read; one that is left out is found by the next
// sample.
func (l *look) children(pid int, threads int64) ([]int, error) {
	if threads == 1 {
		return l.childrenOf(pid, pid, nil)
	}
	tasks, err := os.ReadDir(filepath.Join(l.tree.Proc, strconv.Itoa(pid), "task"))
	if err != nil {
		return nil, err
	}
	var list []int
	for _, task := range tasks {
		if l.reads > maxReads {
			break
		}
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			return nil, fmt.Errorf("threads of %d: %w", pid, err)
		}
		if list, err = l.childrenOf(pid, tid, list); err != nil && !gone(err) {
			return nil, err
		}
	}
	return list, nil
}

// childrenOf appends the children of one thread.
func (l *look) childrenOf(pid, tid int, list []int) ([]int, error) {
	text, err := l.read(pid, "task/"+strconv.Itoa(tid)+"/children")
	if errors.Is(err, fs.ErrNotExist) && l.alive(pid, tid) {
		return list, fmt.Errorf("this kernel does not list children (CONFIG_PROC_CHILDREN): %s", err) // not %w: nothing is gone
	}
	if err != nil {
		return list, err
	}
	for field := range strings.FieldsSeq(text) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return list, fmt.Errorf("children of %d: %w", pid, err)
		}
		list = append(list, child)
	}
	return list, nil
}

func (l *look) alive(pid, tid int) bool {
	_, err := os.Stat(filepath.Join(l.tree.Proc, strconv.Itoa(pid), "task", strconv.Itoa(tid)))
	return err == nil
}

// exactBytes returns the values of smaps_rollup, and whether it could be read.
func (l *look) exactBytes(pid int) (own, mapped int64, ok bool) {
	text, err := l.read(pid, "smaps_rollup")
	if err != nil {
		return 0, 0, false
	}
	f := fields(text)
	if _, ok := f["Pss_Anon"]; ok { // Linux 5.4
		return f["Pss_Anon"] << 10, f["Pss_Shmem"] << 10, true
	}
	pss, ok := f["Pss"]
	return pss << 10, 0, ok
}

// fields parses lines of the form "Name: 123 kB" or "Name: 123" and ignores
// others. A process chooses its name, which is in status, but the kernel
// escapes a newline in it (proc_task_name in fs/proc/array.c), so it cannot add
// a line.
func fields(text string) map[string]int64 {
	m := map[string]int64{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		number, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err == nil {
			m[name] = number
		}
	}
	return m
}
