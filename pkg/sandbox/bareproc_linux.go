package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
)

// coveredProc is why a proc(5) is refused: a container engine has covered parts of the one around this process.
const coveredProc = "the container around this process covers parts of its /proc"

// coveredHint is the way out.
const coveredHint = "let the container have a full /proc (docker and podman: --security-opt systempaths=unconfined; kubernetes: procMount: Unmasked)"

// procRefused reports whether a run ended because the kernel refuses a proc(5): EPERM of mount(2), mount_too_revealing in fs/namespace.c.
func procRefused(err error) bool {
	var fault *steps.StepError
	return errors.As(err, &fault) && fault.Step.Stage == "mount" && fault.Step.Call == "mount" && fault.Step.Object == "/proc" && fault.Errno == syscall.EPERM
}

// withBareProc is the plan with a /proc that has these files and no processes in it, or nothing but processes.
func withBareProc(p *Plan, files []mount.File) *Plan {
	q := *p
	q.Mounts = slices.DeleteFunc(slices.Clone(p.Mounts), func(m mount.Mount) bool { return m.Target != "/proc" && mount.Within(m.Target, "/proc") })
	for i := range q.Mounts {
		if q.Mounts[i].Kind == mount.Proc {
			q.Mounts[i].Kind = mount.BareProc
		}
	}
	q.ProcFiles = files
	return &q
}

// machineFiles are the files of proc(5) that tell of the machine and that programs look for. None tells of a process, a mount or a user.
var machineFiles = []string{
	"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version",
	"sys/fs/file-max", "sys/fs/nr_open", "sys/fs/pipe-max-size", "sys/net/core/somaxconn", "sys/vm/max_map_count", "sys/vm/overcommit_memory",
	"sys/kernel/cap_last_cap", "sys/kernel/ngroups_max", "sys/kernel/osrelease", "sys/kernel/ostype", "sys/kernel/overflowgid", "sys/kernel/overflowuid",
	"sys/kernel/pid_max", "sys/kernel/threads-max", "sys/kernel/version",
}

// procCopies are the machine files as they are now, each at most 1 MiB.
func procCopies() (files []mount.File) {
	for _, name := range machineFiles {
		f, err := os.Open(filepath.Join("/proc", name))
		if err != nil {
			continue // covered too, or not of this kernel
		}
		text, err := io.ReadAll(io.LimitReader(f, 1<<20))
		f.Close()
		if err == nil {
			files = append(files, mount.File{Name: name, Text: text})
		}
	}
	return files
}

// bareProc says what /proc is where it is not a whole one, "" where it is.
func (r *run) bareProc() string {
	switch {
	case !slices.ContainsFunc(r.mounts, func(m mount.Mount) bool { return m.Kind == mount.BareProc }):
		return ""
	case len(r.fallbacks("/proc")) == 0:
		return coveredProc + ": the one inside shows the command's processes and nothing else"
	}
	return coveredProc + ": the one inside has copies of files that tell of the machine, and no process"
}
