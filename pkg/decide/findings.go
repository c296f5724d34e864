package decide

import (
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/tooloutput"
)

// see sets the findings that a record's tool reported, if a policy asks for
// them and the record has the output. They are the same findings that
// ethos-trace shows.
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
