package cgroup

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Usage is what the processes of a leaf have used so far, and how its limits
// took effect. The files are described in
// Documentation/admin-guide/cgroup-v2.rst of the kernel. What ended processes
// used counts too. Memory is all that is charged to the leaf: anonymous memory,
// page cache, tmpfs and the kernel's own, such as page tables and sockets. The
// peak therefore comes near the limit in every command that reads many files,
// without harm, because the kernel reclaims page cache before it kills. Written
// bytes count when they are written back, and to the leaf only on file systems
// that support it: "Writeback" in cgroup-v2.rst.
type Usage struct {
	MemoryPeak int64         // bytes; memory.peak, Linux 5.19
	CPU        time.Duration // cpu.stat, user and system; present without the cpu controller too
	UserCPU    time.Duration
	SystemCPU  time.Duration
	Throttled  time.Duration // delayed by cpu.max
	PidsPeak   int64         // pids.peak, Linux 6.1
	PidsDenied int64         // forks denied by pids.max
	OOMKills   int64         // processes killed because of memory
	ReadBytes  int64         // io.stat, all devices; needs the io controller
	WriteBytes int64         // as written to devices, not as passed to write(2)
	// Unknown names the interface files that this kernel or delegation
	// lacks. The corresponding numbers are 0 here, but unknown.
	Unknown []string
}

// Usage reads the leaf's counters. They can be read until Remove, also after
// the last process has ended. The files are read one after another, so the
// numbers of a leaf that runs are not of one moment.
func (l *Leaf) Usage() (Usage, error) {
	r := reader{leaf: l}
	cpu, memory, pids := r.flat("cpu.stat"), r.flat("memory.events"), r.flat("pids.events")
	u := Usage{
		MemoryPeak: r.number("memory.peak"),
		CPU:        time.Duration(cpu["usage_usec"]) * time.Microsecond,
		UserCPU:    time.Duration(cpu["user_usec"]) * time.Microsecond,
		SystemCPU:  time.Duration(cpu["system_usec"]) * time.Microsecond,
		Throttled:  time.Duration(cpu["throttled_usec"]) * time.Microsecond,
		PidsPeak:   r.number("pids.peak"),
		PidsDenied: pids["max"],
		OOMKills:   memory["oom_kill"],
	}
	u.ReadBytes, u.WriteBytes = r.io()
	u.Unknown = r.unknown
	return u, r.err
}

// reader reads interface files until one has an unexpected format.
type reader struct {
	leaf    *Leaf
	unknown []string
	err     error
}

// text returns "" for a file that is missing, and after an error. A file is
// missing if the kernel is too old for it or if its controller is not enabled
// here.
func (r *reader) text(file string) string {
	if r.err != nil {
		return ""
	}
	text, err := r.leaf.files.ReadFile(r.leaf.Path + "/" + file)
	if missing(err) {
		r.unknown = append(r.unknown, file)
		return ""
	}
	r.fail(file, err)
	return strings.TrimSpace(string(text))
}

// fail keeps the first error.
func (r *reader) fail(file string, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("cgroup: usage: %s: %w", file, err)
	}
}

// number reads a file with one number.
func (r *reader) number(file string) int64 {
	text := r.text(file)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	r.fail(file, err)
	return n
}

// flat reads a "flat keyed" file; "" is a file without keys. A file that is
// missing is one, too; its name is in unknown.
func (r *reader) flat(file string) map[string]int64 {
	m, err := parseFlat(r.text(file))
	r.fail(file, err)
	return m
}

// io adds up the bytes of all devices. The file is "nested keyed", one line a
// device; a device without traffic may be missing.
func (r *reader) io() (read, written int64) {
	read, written, err := parseIO(r.text("io.stat"))
	r.fail("io.stat", err)
	return read, written
}

// parseFlat parses lines "key value". Kernels add keys, so their order means
// nothing, and unknown ones are kept.
func parseFlat(text string) (map[string]int64, error) {
	m := map[string]int64{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		m[key] = n
	}
	return m, nil
}

// parseIO adds up lines "8:0 rbytes=1 wbytes=2 rios=3 …". The device, which has
// no "=", is skipped like every key that is not of interest.
func parseIO(text string) (read, written int64, err error) {
	for field := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(field, "=")
		var sum *int64
		switch key {
		case "rbytes":
			sum = &read
		case "wbytes":
			sum = &written
		default:
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("field %q: %w", field, err)
		}
		*sum += n
	}
	return read, written, nil
}
