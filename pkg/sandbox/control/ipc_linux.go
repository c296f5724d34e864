package control

import (
	"golang.org/x/sys/unix"
)

// ipc is a namespace of System V IPC objects and POSIX message queues: ipc_namespaces(7).
type ipc struct{ namespace }

func newIPC(j *Job) *ipc { return &ipc{newNamespace(j, "ipc", "ipc", "ipc", unix.CLONE_NEWIPC)} }
