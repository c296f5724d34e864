package control

import "time"

// CacheUse describes what commands have added to one cache, in one of its upper
// directories. Concurrent runs have one each.
type CacheUse struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	Files int64     `json:"files"`
	Used  time.Time `json:"used"` // when a run last used it
	InUse bool      `json:"in_use"`
}
