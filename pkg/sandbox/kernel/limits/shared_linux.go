package limits

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Shared counts the memory of a tree that its page tables do not tell of: memfds, which can be written to without being mapped; System V segments, which outlive every
// process; files of the private tmpfs. The zero value counts memfds alone.
type Shared struct {
	// Segments is /proc/sysvipc/shm, opened in the tree's IPC namespace: proc(5) shows that of the process that opens it.
	Segments *os.File
	// Scratch is a directory of the private tmpfs.
	Scratch *os.File

	memfds  int64 // as of the last search
	machine int64 // shared memory of the whole machine then
	looks   int   // since then
	device  uint64
}

const (
	// growthShare of the limit is by how much the machine's shared memory must have grown before descriptors are searched: the search costs a stat(2) for each.
	growthShare = 8
	// maxLooks without a search: what another process of the machine gave back at the same time hides growth.
	maxLooks = 32
)

// Held returns the function that a [Tree] takes, for the limit that is watched and the numbers of /proc. With exact, or when enough may have come to it, the descriptors of the
// processes are searched; otherwise what the last search found counts.
func (s *Shared) Held(limit int64) func(pids []int, exact bool) int64 {
	s.machine = machineShared("/proc")
	return func(pids []int, exact bool) int64 { return s.bytes("/proc", pids, limit, exact) }
}

func (s *Shared) bytes(proc string, pids []int, limit int64, exact bool) int64 {
	machine := machineShared(proc)
	s.machine = min(s.machine, machine)
	if s.looks++; exact || s.looks > maxLooks || machine-s.machine > limit/growthShare {
		s.memfds, s.machine, s.looks = s.search(proc, pids), machine, 0
	}
	return s.memfds + s.segments() + s.scratch()
}

// machineShared is Shmem of /proc/meminfo: proc_meminfo(5).
func machineShared(proc string) int64 {
	text, err := os.ReadFile(filepath.Join(proc, "meminfo"))
	if err != nil {
		return 0
	}
	return fields(string(text))["Shmem"] << 10
}

// object is one file of the kernel's own tmpfs.
type object struct{ device, inode uint64 }

// search adds up the memfds that the processes have open, each once.
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
			continue // it has ended
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

// memfdDevice is the device number of the mount on which the kernel keeps memfds: shm_mnt in mm/shmem.c. It has no name; a memfd of this process tells.
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

// segments adds up what System V segments hold, in memory and in swap: the last two columns of /proc/sysvipc/shm, proc_sysvipc(5).
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
		for _, column := range columns[14:16] {
			n, _ := strconv.ParseInt(column, 10, 64) // 0 for the heading
			bytes += n
		}
	}
	return bytes
}

// readFrom reads a file of proc(5) from its start, as it is now.
func readFrom(f *os.File) (string, error) {
	if _, err := f.Seek(0, 0); err != nil {
		return "", err
	}
	var text strings.Builder
	_, err := f.WriteTo(&text)
	return text.String(), err
}

// scratch is what the private tmpfs holds: statfs(2).
func (s *Shared) scratch() int64 {
	var st unix.Statfs_t
	if s.Scratch == nil || unix.Fstatfs(int(s.Scratch.Fd()), &st) != nil || st.Type != unix.TMPFS_MAGIC {
		return 0
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// Close closes the files.
func (s *Shared) Close() {
	for _, f := range []*os.File{s.Segments, s.Scratch} {
		if f != nil {
			f.Close()
		}
	}
}
