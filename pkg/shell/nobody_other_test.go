//go:build !unix

package shell

import "os/exec"

func asNobody(*exec.Cmd) {}

func nobody() int { return -1 }
