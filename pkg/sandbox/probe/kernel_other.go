//go:build !linux

package probe

import "runtime"

func kernel() string { return runtime.GOOS }
