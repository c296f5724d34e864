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
	"ethos/pkg/session/dial"
)

// written returns a function that returns what a command wrote to a file. No
// other kind of stream can be read back. Call written before the command
// starts, and the function after the command has ended.
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
		own, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) // ours may be open for writing only
		if err != nil {
			return ""
		}
		defer own.Close()
		start = max(start, info.Size()-explain.TailBytes)
		var text strings.Builder
		_, _ = io.Copy(&text, io.NewSectionReader(own, start, info.Size()-start)) // as much as can be read
		return text.String()
	}
}

// explained returns a denial, with what would have been different outside, on
// one line.
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
	if e.Status == 0 || e.Timeout || e.OOM || e.Lost != "" || j.asked.Explain {
		return nil
	}
	plan, err := sandbox.Build(j.spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		return nil // the file system has changed since the session began
	}
	return sandbox.Infer(plan, sandbox.Failed{Argv: j.argv, Output: j.said.String()})
}

// waysOut adds to each denial how to allow it. The session of an agent's calls
// is created by its hook.
func (j *joining) waysOut(denials []record.Denial) []record.Denial {
	if _, auto, err := dial.Wanted(string(j.word)); err == nil && auto && j.evidence.record != nil {
		return j.evidence.record.waysOut(denials)
	}
	return forSession(denials)
}

// forSession rewords the proposals: a session needs them from its start.
func forSession(denials []record.Denial) []record.Denial {
	denials = slices.Clone(denials)
	for i := range denials {
		if d := &denials[i]; d.Kind != "" && d.Kind != record.KindLimit && d.Remedy != "" {
			d.Remedy = "ethos-sandbox session start " + d.Remedy
		}
	}
	return denials
}
