package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/session"
)

// written is what a command writes to a file: nothing else can be read that a
// command has as its own stream. It is to be called before the command starts,
// and what it returns when the command has ended.
func written(f *os.File) func() string {
	none := func() string { return "" }
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return none
	}
	start := info.Size()
	return func() string {
		info, err := f.Stat()
		if err != nil || info.Size() <= start {
			return ""
		}
		own, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) // ours may be open for writing alone
		if err != nil {
			return ""
		}
		defer own.Close()
		start = max(start, info.Size()-explain.TailBytes)
		var text strings.Builder
		_, _ = io.Copy(&text, io.NewSectionReader(own, start, info.Size()-start)) // what can be read of it
		return text.String()
	}
}

// explained is a denial that says what would have been different outside, in a
// line.
func explained(d record.Denial) string {
	text := deniedText(d)
	if d.Process != "" {
		text += " (" + d.Process + ": " + d.Call + ")"
	}
	return text + d.Guess()
}

// explain says what the boundary of a session refused a command that failed in
// it.
func (j *joining) explain(e session.Exited) []record.Denial {
	if e.Status == 0 || e.Timeout || e.Lost != "" || j.asked.Explain {
		return nil
	}
	plan, err := sandbox.Build(j.spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		return nil // what is there has changed since the session began
	}
	return sandbox.Infer(plan, sandbox.Failed{Argv: j.argv, Output: j.said.String()})
}

// waysOut says how what was denied can be had. The session of an agent's calls
// is made by its hook.
func (j *joining) waysOut(denials []record.Denial) []record.Denial {
	if _, auto, err := session.Wanted(string(j.word)); err == nil && auto && j.evidence.record != nil {
		return j.evidence.record.waysOut(denials)
	}
	return forSession(denials)
}

// forSession says of what is proposed that a session has it from its start.
func forSession(denials []record.Denial) []record.Denial {
	denials = slices.Clone(denials)
	for i := range denials {
		if d := &denials[i]; d.Kind != "" && d.Remedy != "" {
			d.Remedy = "ethos-sandbox session start " + d.Remedy
		}
	}
	return denials
}
