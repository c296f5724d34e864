package control

import "time"

// CacheUse is what commands have added to one cache, in one of its upper
// directories: runs at the same time have one each.
type CacheUse struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	Files int64     `json:"files"`
	Used  time.Time `json:"used"` // when a run last took it
	InUse bool      `json:"in_use"`
}
