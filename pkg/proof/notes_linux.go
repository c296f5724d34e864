package proof

import "syscall"

// Magic numbers: include/uapi/linux/magic.h.
const (
	magicExt   = 0xEF53
	magicXFS   = 0x58465342
	magicBtrfs = 0x9123683E
	magicF2FS  = 0xF2F52010
)

// notesChanges reports whether the file system records every change of a file in its timestamps,
// and its device. On tmpfs a mapped file can be written without a change of the timestamps. Other
// file systems are unknown; their files are read each time.
func notesChanges(root string) (device uint64, ok bool) {
	var fs syscall.Statfs_t
	var st syscall.Stat_t
	if syscall.Statfs(root, &fs) != nil || syscall.Stat(root, &st) != nil {
		return 0, false
	}
	switch uint32(fs.Type) {
	case magicExt, magicXFS, magicBtrfs, magicF2FS:
		return st.Dev, true
	}
	return 0, false
}
