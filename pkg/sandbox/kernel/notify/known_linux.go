package notify

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxListening is how many listening sockets inside are known at a time.
const maxListening = 1024

// known holds the socket files that may be connected to. Each is kept open, so
// that its inode number cannot be reused, and connections use the descriptor.
type known struct {
	declared, inside map[identity]int
}

// declare opens the declared socket files. A name that is replaced later does
// not matter: what is allowed is the file that had it now. On an error, what
// was opened stays for close.
func (k *known) declare(paths []string) error {
	k.declared, k.inside = map[identity]int{}, map[identity]int{}
	for _, path := range paths {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("connect check: %s: %w", path, err)
		}
		k.put(k.declared, fd)
	}
	return nil
}

// put owns fd, and closes it if the same file is known under another name.
func (k *known) put(to map[identity]int, fd int) {
	id, err := identify(fd)
	if _, there := to[id]; err != nil || there {
		unix.Close(fd)
		return
	}
	to[id] = fd
}

// add records the file of a socket that listens inside. If there are too many,
// files without a name are dropped.
func (k *known) add(fd int) {
	if len(k.inside) >= maxListening {
		k.prune()
	}
	if len(k.inside) >= maxListening {
		unix.Close(fd)
		return
	}
	k.put(k.inside, fd)
}

// prune forgets files without a name, which no look-up by name reaches any
// more.
func (k *known) prune() {
	for id, fd := range k.inside {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Nlink == 0 {
			unix.Close(fd)
			delete(k.inside, id)
		}
	}
}

// find returns the descriptor of a known file, or -1.
func (k *known) find(id identity) int {
	if fd, ok := k.declared[id]; ok {
		return fd
	}
	if fd, ok := k.inside[id]; ok {
		return fd
	}
	return -1
}

func (k *known) close() {
	for _, files := range []map[identity]int{k.declared, k.inside} {
		for _, fd := range files {
			unix.Close(fd)
		}
	}
}
