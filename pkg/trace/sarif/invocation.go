package sarif

import (
	"time"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// invocation returns the description of one action (3.20).
func (r *run) invocation(e *trace.Entry) invocation {
	outcome := e.Outcome()
	v := invocation{
		CommandLine:         e.Command(),
		ExecutionSuccessful: outcome == trace.Passed || outcome == trace.Found || outcome == trace.Reported || outcome == trace.Allowed,
		Properties:          invocationProperties{ID: e.Line.ID(), Outcome: string(outcome), Mode: e.Actor.Mode, Agent: e.Actor.Agent},
	}
	if len(e.Action.Argv) > 1 {
		v.Arguments = e.Action.Argv[1:]
	}
	cwd := r.bases.locate(e.Action.Workspace, directory(e.Action))
	v.WorkingDirectory = &cwd
	if e.Ran() {
		v.ran(e)
	} else if e.Result != nil {
		v.Properties.Sandbox = evidence(e)
	}
	if !e.Ran() && (outcome == trace.Denied || outcome == trace.Asked || outcome == trace.Undecided) {
		v.ProcessStartFailureMessage = refusal(e, outcome)
	}
	for _, reason := range e.Why() {
		v.ToolExecutionNotifications = append(v.ToolExecutionNotifications, r.refused(e, reason))
	}
	for _, d := range e.Denials() {
		v.ToolExecutionNotifications = append(v.ToolExecutionNotifications, r.deniedNote(e, d))
	}
	return v
}

// ran adds what is known of a started process.
func (v *invocation) ran(e *trace.Entry) {
	res := e.Result
	v.Properties.DurationMS = res.DurationMS
	v.Properties.Sandbox = evidence(e)
	if start, err := time.Parse(time.RFC3339Nano, res.Started); err == nil {
		v.StartTimeUTC = utc(start)
		v.EndTimeUTC = utc(start.Add(time.Duration(res.DurationMS * float64(time.Millisecond))))
	}
	switch res.Status {
	case record.StatusExited:
		code := res.ExitCode
		v.ExitCode = &code
	case record.StatusTimeout:
		v.ExitCodeDescription = "killed at its time limit"
	case record.StatusOOM:
		v.ExitCodeDescription = "killed at its memory limit"
	}
	if res.Status != record.StatusExited {
		v.ExitSignalName = res.Signal
	}
}

// maxConnections and maxConnectionText limit the connections in an invocation.
const (
	maxConnections    = 100
	maxConnectionText = 300
)

// evidence returns the evidence of the run, with as many connections as fit into a log, refused
// ones first. Their texts come from the command.
func evidence(e *trace.Entry) *record.Sandbox {
	s := e.Result.Capture.Sandbox
	list, more := e.Connections()
	kept := min(len(list), maxConnections)
	s.Connections, s.ConnectionsMore = list[:kept], more+len(list)-kept
	for i := range s.Connections {
		c := &s.Connections[i]
		for _, text := range []*string{&c.Time, &c.Door, &c.Name, &c.Address, &c.Via, &c.Rule, &c.Reason, &c.Detail, &c.Remedy} {
			*text = printable.Line(printable.Clip(*text, maxConnectionText))
		}
	}
	return &s
}

func refusal(e *trace.Entry, outcome trace.Outcome) string {
	why := e.Why()
	switch {
	case outcome == trace.Undecided:
		return "nothing decided whether it may run"
	case len(why) > 0:
		return why[0].ID + ": " + why[0].Message
	}
	return string(outcome)
}

// refused returns the notification for one reason (3.58).
func (r *run) refused(e *trace.Entry, reason trace.Reason) notification {
	level, _ := reasonLevel(reason.Effect)
	d := r.denial(e, reason)
	return notification{
		Descriptor:     &ruleReference{ID: reason.ID},
		AssociatedRule: &ruleReference{ID: reason.ID, Index: d.result.RuleIndex},
		Level:          level, Message: d.result.Message, Locations: d.result.Locations, TimeUTC: stamp(e.Time),
	}
}

func stamp(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return utc(t)
}

// directory returns the action's working directory, relative to the workspace if inside it.
func directory(a record.Action) string {
	if a.Cwd == a.Workspace {
		return ""
	}
	if rest := a.Cwd; len(rest) > len(a.Workspace) && rest[:len(a.Workspace)] == a.Workspace && rest[len(a.Workspace)] == '/' {
		return rest[len(a.Workspace)+1:] + "/"
	}
	return a.Cwd
}

// invalid adds the invocation for an invalid line.
func (r *run) invalid(id string, e record.Error) error {
	d := r.badLine(id, e)
	return r.invocations.add(invocation{
		Properties: invocationProperties{ID: id, Outcome: "invalid"},
		ToolExecutionNotifications: []notification{{
			Descriptor: &ruleReference{ID: d.result.RuleID}, AssociatedRule: &ruleReference{ID: d.result.RuleID, Index: d.result.RuleIndex},
			Level: "error", Message: d.result.Message, Locations: d.result.Locations,
		}},
	})
}
