package limits

import (
	"math"
	"time"
)

// Resource is one RLIMIT_* of asm-generic/resource.h. The numbers are the same
// on amd64 and arm64.
type Resource int

// The resources that are limited. What exceeds one gets, in this order: SIGXCPU
// each second and SIGKILL at the hard limit; SIGXFSZ, or EFBIG if that is
// handled; no core file; EAGAIN from fork(2); EMFILE. See getrlimit(2).
const (
	CPU       Resource = 0 // seconds of CPU time of one process
	FileSize  Resource = 1 // bytes of a file that is written
	Core      Resource = 4 // bytes of a core file
	Processes Resource = 6 // threads of the user, in the user namespace
	OpenFiles Resource = 7 // descriptors of one process
	// RealTime is the processor time of a process with a real-time policy,
	// in microseconds. Others are not limited by it.
	RealTime Resource = 15
)

// String returns the name used in the manual page.
func (r Resource) String() string {
	switch r {
	case CPU:
		return "RLIMIT_CPU"
	case FileSize:
		return "RLIMIT_FSIZE"
	case Core:
		return "RLIMIT_CORE"
	case Processes:
		return "RLIMIT_NPROC"
	case OpenFiles:
		return "RLIMIT_NOFILE"
	case RealTime:
		return "RLIMIT_RTTIME"
	}
	return "RLIMIT_?"
}

// Infinity is RLIM_INFINITY: no limit.
const Infinity = math.MaxUint64

// Limit is struct rlimit64, as prlimit64(2) takes it.
type Limit struct{ Soft, Hard uint64 }

// Rlimit is one line of the table.
type Rlimit struct {
	Resource Resource
	Limit
}

// Bounds are the requested limits. Zero keeps the present limit. Negative
// numbers are like zero.
type Bounds struct {
	CPU       time.Duration // CPU time of each process; rounded up to seconds
	FileBytes int64
	Processes int64
	OpenFiles int64
}

// cpuGrace is the time between SIGXCPU and SIGKILL, in seconds of CPU time. A
// command may handle SIGXCPU and end in order in that time.
const cpuGrace = 5

// Rlimits returns the table for the bounds. current returns the present limits,
// which are never raised. RLIMIT_CORE is always 0. Raising a hard limit needs
// CAP_SYS_RESOURCE, and for the number of descriptors it fails above
// /proc/sys/fs/nr_open (EPERM). Limits stay across fork(2) and execve(2).
func Rlimits(b Bounds, current func(Resource) Limit) []Rlimit {
	table := []Rlimit{{Core, Limit{}}}
	add := func(r Resource, soft, hard int64) {
		if soft > 0 {
			table = append(table, Rlimit{r, current(r).lower(uint64(soft), uint64(hard))})
		}
	}
	seconds := int64((b.CPU + time.Second - 1) / time.Second)
	add(CPU, seconds, seconds+cpuGrace)
	add(FileSize, b.FileBytes, b.FileBytes)
	add(Processes, b.Processes, b.Processes)
	add(OpenFiles, b.OpenFiles, b.OpenFiles)
	return table
}

// lower returns the limit, lowered to soft and hard.
func (l Limit) lower(soft, hard uint64) Limit {
	hard = min(hard, l.Hard)
	return Limit{Soft: min(soft, l.Soft, hard), Hard: hard}
}

// NprocHolds reports whether the kernel applies [Processes] to a caller with
// this user id. It does not apply it to the machine's root, whatever
// capabilities it has dropped (kernel/fork.c, copy_process: INIT_USER). uid is
// that of the initial user namespace: a root that a user namespace maps to an
// ordinary user is held.
func NprocHolds(uid int) bool { return uid != 0 }
