package tooloutput

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// Output is a tool's output.
type Output struct {
	Stdout, Stderr []byte
	Workspace      string // absolute
	Cwd            string // absolute; relative paths in the output are relative to it
}

// Fill sets the findings of an entry whose action ran.
func Fill(e *trace.Entry) { Read(e) }

// Read is like [Fill], and reports whether there can be no more findings: the whole output was read
// and is in the format, or the tool has no format.
func Read(e *trace.Entry) (whole bool) {
	if !e.Ran() {
		return true
	}
	capture := &e.Result.Capture
	out := Output{Stdout: bytesOf(capture.Stdout), Stderr: bytesOf(capture.Stderr), Workspace: e.Action.Workspace, Cwd: e.Action.Cwd}
	findings, understood := Parse(e.Facts.Tool.Format, out)
	cut := capture.Stdout.Truncated || capture.Stderr.Truncated
	e.Parsed = understood && !cut && len(findings) > 0
	if failed(e.Result) && !e.Parsed && !hasErrors(findings) {
		findings = append(findings, failure(e))
	}
	e.Findings = findings
	return e.Facts.Tool.Format == "" || understood && !cut
}

// hasErrors reports whether the findings alone show that something is wrong.
func hasErrors(findings []trace.Finding) bool {
	return slices.ContainsFunc(findings, func(f trace.Finding) bool { return f.Level == trace.LevelError })
}

func bytesOf(s record.Stream) []byte {
	if s.Base64 == "" {
		return []byte(s.Text)
	}
	b, _ := base64.StdEncoding.DecodeString(s.Base64) // undecodable output has no findings
	return b
}

func failed(r *record.Result) bool { return r.Status != record.StatusExited || r.ExitCode != 0 }

// failure returns the finding for a failure that the output does not explain.
func failure(e *trace.Entry) trace.Finding {
	name := e.Tool()
	if name == "" {
		name = e.CommandName()
	}
	message := fmt.Sprintf("%s %s", name, e.Ending())
	if last := lastWords(e.Result.Capture.Stderr.Text, e.Result.Capture.Stdout.Text); last != "" {
		message += ": " + last
	}
	return trace.Finding{Rule: trace.RuleFailed, Level: trace.LevelError, Message: message}
}

// lastWords returns the last non-blank line of the first stream that has one.
func lastWords(streams ...string) string {
	for _, text := range streams {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return printable.Clip(last, 300)
		}
	}
	return ""
}

// Parse parses findings in a format; understood is false if the format is unknown, or the output is
// not in it. Output without findings is understood if it is empty or says so in the format's own
// way.
func Parse(format string, out Output) (findings []trace.Finding, understood bool) {
	if patterns, ok := strings.CutPrefix(format, "errorformat:"); ok {
		findings, understood = byPatterns(strings.Split(patterns, "\n"))(out)
	} else if parse, ok := formats.Get()[format]; ok {
		findings, understood = parse(out)
	}
	for i := range findings {
		findings[i] = tidy(findings[i], out)
	}
	return findings, understood
}

// tidy makes the path relative and the text printable on one line.
func tidy(f trace.Finding, out Output) trace.Finding {
	f.Path = out.relative(f.Path)
	f.Message = strings.TrimSpace(strings.ToValidUTF8(f.Message, "\uFFFD"))
	f.Line, f.Column, f.EndLine, f.EndColumn = max(f.Line, 0), max(f.Column, 0), max(f.EndLine, 0), max(f.EndColumn, 0)
	if f.Message == "" {
		f.Message = cmp.Or(f.Rule, "no message")
	}
	if f.Level == "" {
		f.Level = trace.LevelWarning
	}
	if f.EndLine < f.Line || f.EndLine == f.Line && f.EndColumn <= f.Column {
		f.EndLine, f.EndColumn = 0, 0
	}
	return f
}

// all returns both streams, standard output first.
func (o Output) all() []byte {
	if len(o.Stdout) == 0 {
		return o.Stderr
	}
	return bytes.Join([][]byte{o.Stdout, o.Stderr}, []byte{'\n'})
}
