package limits

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Shared counts memory of a process tree that does not appear in its page
// tables: memfds, which can be written without being mapped; System V segments,
// which outlive every process; and files of the private tmpfs. The zero value
// counts memfds only.
type Shared struct {
	// Segments is /proc/sysvipc/shm, opened in the tree's IPC namespace:
	// proc(5) shows the namespace of the process that opens it.
	Segments *os.File
	// Scratch is a directory on the private tmpfs.
	Scratch *os.File
	// Made says that only segments count that processes of the tree have
	// made. A process is known from the first sample that it is part of.
	Made bool

	makers  map[int]bool // numbers of these processes in the tree's PID namespace
	numbers map[int]bool // their numbers here
	memfds  int64        // bytes, as of the last search
	machine int64        // shared memory of the whole machine at that time
	looks   int          // calls since then
	device  uint64
}

const (
	// growthShare is the share of the limit by which the machine's shared
	// memory must grow before descriptors are searched. A search costs a
	// stat(2) for each descriptor.
	growthShare = 8
	// maxLooks is the largest number of calls without a search. Memory that
	// another process frees at the same time hides growth.
	maxLooks = 32
)

// Held returns the function for [Tree.Held], for the limit that is watched. It
// uses /proc. It searches the descriptors of the processes if exact is set or
// if enough shared memory may have been added. Otherwise it uses the result of
// the last search.
func (s *Shared) Held(limit int64) func(pids []int, exact bool) int64 {
	s.machine = machineShared("/proc")
	return func(pids []int, exact bool) int64 { return s.bytes("/proc", pids, limit, exact) }
}

// It counts growth from the lowest level since the last search, so that memory
// which the machine frees and a process takes again is noticed.
func (s *Shared) bytes(proc string, pids []int, limit int64, exact bool) int64 {
	machine := machineShared(proc)
	s.machine = min(s.machine, machine)
	if s.looks++; exact || s.looks > maxLooks || machine-s.machine > limit/growthShare {
		s.memfds, s.machine, s.looks = s.search(proc, pids), machine, 0
	}
	if s.Made {
		s.know(proc, pids)
	}
	return s.memfds + s.segments() + s.scratch()
}

// machineShared returns Shmem of /proc/meminfo in bytes: proc_meminfo(5).
func machineShared(proc string) int64 {
	text, err := os.ReadFile(filepath.Join(proc, "meminfo"))
	if err != nil {
		return 0
	}
	return fields(string(text))["Shmem"] << 10
}

// object identifies a file on the kernel's internal tmpfs.
type object struct{ device, inode uint64 }

// search returns the total size of the memfds that the processes have open,
// each counted once. A stat(2) of an entry in /proc/PID/fd follows the magic
// link to the open file without opening it. It needs the right to trace the
// process (PTRACE_MODE_READ_FSCREDS), and what may not be read is not counted.
// st_blocks is in units of 512 bytes whatever the file system.
func (s *Shared) search(proc string, pids []int) (bytes int64) {
	if s.device == 0 {
		if s.device = memfdDevice(); s.device == 0 {
			return 0
		}
	}
	seen, reads := map[object]bool{}, 0
	for _, pid := range pids {
		dir, err := os.Open(filepath.Join(proc, strconv.Itoa(pid), "fd"))
		if err != nil {
			continue // the process has ended
		}
		names, _ := dir.Readdirnames(-1)
		for _, name := range names {
			var st unix.Stat_t
			if reads++; reads > maxReads || unix.Fstatat(int(dir.Fd()), name, &st, 0) != nil {
				continue
			}
			if o := (object{st.Dev, st.Ino}); st.Dev == s.device && !seen[o] {
				seen[o] = true
				bytes += st.Blocks * 512
			}
		}
		dir.Close()
	}
	return bytes
}

// memfdDevice returns the device number of the mount that holds memfds: shm_mnt
// in mm/shmem.c. It has no name, so a memfd of this process is created to find
// it. A memfd with huge pages is on another mount (hugetlbfs), and not counted.
func memfdDevice() uint64 {
	fd, err := unix.MemfdCreate("ethos", unix.MFD_CLOEXEC)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Dev
}

// know remembers the numbers that processes have in their PID namespace: NSpid
// of proc_pid_status(5), Linux 4.1. /proc/sysvipc/shm gives the creator's
// number in the PID namespace of the process that opened it (sysvipc_proc_open
// in ipc/util.c), which is the tree's. A number that is used again stands for
// both processes.
func (s *Shared) know(proc string, pids []int) {
	if s.numbers == nil {
		s.makers, s.numbers = map[int]bool{}, map[int]bool{}
	}
	for _, pid := range pids {
		if s.numbers[pid] {
			continue
		}
		text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "status"))
		if err != nil {
			continue // the process has ended
		}
		_, line, _ := strings.Cut(string(text), "\nNSpid:")
		line, _, _ = strings.Cut(line, "\n")
		if own := strings.Fields(line); len(own) > 0 {
			inside, _ := strconv.Atoi(own[len(own)-1])
			s.numbers[pid], s.makers[inside] = true, true
		}
	}
}

// segments returns the total size of System V segments in memory and in swap:
// the last two columns of /proc/sysvipc/shm, proc_sysvipc(5).
func (s *Shared) segments() (bytes int64) {
	if s.Segments == nil {
		return 0
	}
	text, err := readFrom(s.Segments)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(text) {
		columns := strings.Fields(line)
		if len(columns) < 16 {
			continue
		}
		if maker, _ := strconv.Atoi(columns[4]); s.Made && !s.makers[maker] { // cpid
			continue
		}
		for _, column := range columns[14:16] {
			n, _ := strconv.ParseInt(column, 10, 64) // 0 for the heading
			bytes += n
		}
	}
	return bytes
}

// readFrom reads the present content of a file of proc(5) from its start.
// Several callers may read the same file: it uses no offset of the file's own.
func readFrom(f *os.File) (string, error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	return string(text), err
}

// scratch returns the size of the content of the private tmpfs: statfs(2).
func (s *Shared) scratch() int64 {
	var st unix.Statfs_t
	if s.Scratch == nil || unix.Fstatfs(int(s.Scratch.Fd()), &st) != nil || st.Type != unix.TMPFS_MAGIC {
		return 0
	}
	return int64(st.Blocks-st.Bfree) * int64(st.Bsize)
}
