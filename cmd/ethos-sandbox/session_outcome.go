package main

import (
	"cmp"
	"slices"
	"syscall"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/session"
)

// outcome converts the end of a command to that of a run, with the evidence of its session.
func outcome(client *session.Client, e session.Exited) sandbox.Outcome {
	status := syscall.WaitStatus(e.Status)
	out := sandbox.Outcome{Status: record.StatusExited, ExitCode: status.ExitStatus(), Started: e.Started, Duration: e.Duration, Evidence: sandbox.NoEvidence()}
	if status.Signaled() {
		out.Status, out.ExitCode, out.Signal = record.StatusSignaled, 0, status.Signal()
	}
	switch {
	case e.Timeout:
		out.Status = record.StatusTimeout
	case e.OOM:
		out.Status = record.StatusOOM
	}
	if e.Evidence != nil {
		out.Evidence = *e.Evidence
	}
	out.Evidence.Session, out.Evidence.PlanDigest = client.Hello.Name, client.Hello.Digest
	out.Evidence.Denials = append(slices.Clone(out.Evidence.Denials), e.Denials...)
	out.Lost, out.Evidence.Reason = e.Lost != "", cmp.Or(e.Lost, out.Evidence.Reason)
	return out
}

// crowded returns the limit of processes at which a command was killed, where no
// cgroup keeps it from starting more, else "".
func crowded(e session.Exited) string {
	for _, d := range e.Denials {
		if d.Kind == record.KindLimit && d.Layer == "rlimits" && !e.OOM {
			return d.What
		}
	}
	return ""
}

// endedInside makes this process end as the command did. most is the time that the ceiling allows,
// 0 for any.
func endedInside(w session.Want, e session.Exited, most time.Duration) error {
	status := syscall.WaitStatus(e.Status)
	switch {
	case e.Timeout:
		return cli.Errorf(cli.Timeout, sandbox.TimeHint(w.Timeout, most), "%s: killed at the time limit of %v", w.Argv[0], w.Timeout)
	case e.OOM && w.Limits.MemoryBytes > 0:
		return cli.Errorf(cli.SignalBase+cli.Status(syscall.SIGKILL), "allow more memory with --memory", "%s: killed at the memory limit of %d bytes", w.Argv[0], w.Limits.MemoryBytes)
	case e.OOM:
		return cli.Errorf(cli.SignalBase+cli.Status(syscall.SIGKILL), "give each command a limit of its own with --memory, or start a session that has more", "%s: killed at the memory limit of its session", w.Argv[0])
	case e.Lost != "":
		return cli.Errorf(cli.SignalBase+cli.Status(syscall.SIGKILL), "everything inside has ended; ethos-sandbox session start starts it again", "%s: killed: %s", w.Argv[0], e.Lost)
	case status.Signal() == syscall.SIGKILL && crowded(e) != "":
		return cli.Errorf(cli.SignalBase+cli.Status(syscall.SIGKILL), "allow more with --pids", "%s: killed at the limit of %s", w.Argv[0], crowded(e))
	case status.Signaled():
		return cli.Exit(cli.SignalBase + cli.Status(status.Signal()))
	case status.ExitStatus() == 0:
		return nil
	}
	return cli.Exit(status.ExitStatus())
}
