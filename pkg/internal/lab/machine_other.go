//go:build !linux

package lab

import "os/exec"

func dieWithParent(*exec.Cmd) {}
