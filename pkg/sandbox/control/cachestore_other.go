//go:build !linux

package control

import "time"

// Caches returns nothing, because nothing runs on this system.
func Caches(string) ([]CacheUse, error) { return nil, nil }

// PruneCaches removes nothing.
func PruneCaches(string, time.Time, int64, bool) ([]CacheUse, error) { return nil, nil }
