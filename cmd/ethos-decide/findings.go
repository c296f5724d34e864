package main

import (
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/tooloutput"
)

// see reads what the tool of a record reported, where a policy asks for it and the
// record has what was printed. They are the findings that ethos-trace shows.
func see(l *record.Line, set *policy.Set, in *policy.Input) {
	if !set.Reads("findings") || in.Facts == nil {
		return
	}
	var result record.Result
	if err := l.Decode("result", &result); err != nil {
		in.FindingsUnknown = l.Raw("result") != nil
		return
	}
	e := trace.Entry{Action: *in.Action, Facts: *in.Facts, Result: &result}
	in.FindingsUnknown = !tooloutput.Read(&e)
	for _, f := range e.Findings {
		in.Findings = append(in.Findings, policy.Finding{
			Tool: f.Tool, Rule: f.Rule, Level: string(f.Level), Message: f.Message, Path: f.Path, Line: f.Line, Column: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn,
		})
	}
}
