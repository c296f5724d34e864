package quarantine

import "strings"

// MostLevels is how far below its root a path may lie for which a [Room] has
// room: each directory on the way takes a mount.
const MostLevels = 32

// Room bounds the mounts of a plan over paths below a directory that others can fill. A
// path takes a mount for itself, and one for each directory on the way that has
// none yet, which holds the directory in place.
type Room struct {
	left int
	held map[string]bool
}

// NewRoom returns a Room for a number of mounts.
func NewRoom(left int) *Room { return &Room{left, map[string]bool{}} }

// Fill leaves no room.
func (r *Room) Fill() { r.left = 0 }

// Take takes the mounts for a path below a root, both absolute and clean, and
// reports whether there was room for them. If not, nothing is taken.
func (r *Room) Take(root, path string) bool {
	if strings.Count(path[len(root):], "/") > MostLevels {
		return false
	}
	cost, end := 1, len(path)
	for {
		end = strings.LastIndexByte(path[:end], '/')
		if end <= len(root) || r.held[path[:end]] {
			break
		}
		cost++
	}
	if cost > r.left {
		return false
	}
	r.left -= cost
	for end := len(path); cost > 1; cost-- {
		end = strings.LastIndexByte(path[:end], '/')
		r.held[path[:end]] = true
	}
	return true
}
