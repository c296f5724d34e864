//go:build !linux

package cgroup

import (
	"errors"
	"runtime"
)

func kill(string) error { return errors.New("no cgroups on " + runtime.GOOS) }
