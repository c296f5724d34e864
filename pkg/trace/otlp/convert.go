package otlp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/tooloutput"
)

// The event names of log records.
const (
	EventAction     = "ethos.action"
	EventInvalid    = "ethos.invalid"    // an invalid input line
	EventUnreadable = "ethos.unreadable" // a stored line that is not a record; its text is not sent
)

// item is what is sent for one stored line. Span is nil if it has none.
type item struct {
	log  *logspb.LogRecord
	span *tracepb.Span
	at   string // for messages
	size int
}

// attributes are collected without empty ones.
type attributes []*commonpb.KeyValue

func (a *attributes) add(key string, value *commonpb.AnyValue) {
	*a = append(*a, &commonpb.KeyValue{Key: key, Value: value})
}

func (a *attributes) text(key, value string) {
	if value != "" {
		a.add(key, text(value))
	}
}

func (a *attributes) int(key string, value int64) {
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}})
}

func (a *attributes) bool(key string, value bool) {
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: value}})
}

func (a *attributes) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &commonpb.ArrayValue{}
	for _, v := range values {
		list.Values = append(list.Values, text(v))
	}
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}})
}

func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "\uFFFD")}}
}

// convert returns what is sent for a redacted line. seal is the stored line's
// own hash, or "" if it has none. What is sent does not change any more, so no
// result is late: one that follows is sent with its own line.
func convert(l trace.Stored, clean []byte, seal trace.Hash) item {
	out := item{at: l.File + " at byte " + strconv.FormatInt(l.Offset, 10), size: len(clean) + 1024}
	uid := cmp.Or(string(seal), l.File+":"+strconv.FormatInt(l.Offset, 10))
	line, err := record.ParseLine(clean)
	if err != nil {
		out.log = logRecord(dayStart(l.File), EventUnreadable, logspb.SeverityNumber_SEVERITY_NUMBER_ERROR, "the stored line is no record")
		out.log.Attributes = attrs(func(a *attributes) { a.text("log.record.uid", uid); a.text("ethos.stored_at", out.at) })
		return out
	}
	out.at = line.ID() + " (" + out.at + ")"
	if line.Kind() == record.LineError {
		out.log = logRecord(dayStart(l.File), EventInvalid, logspb.SeverityNumber_SEVERITY_NUMBER_ERROR, string(clean))
		out.log.Attributes = attrs(func(a *attributes) { a.text("log.record.uid", uid); a.text("ethos.record.id", line.ID()) })
		return out
	}
	e, err := trace.NewEntry(line, time.Time{})
	if err != nil || line.Kind() != record.LineAction {
		out.log = logRecord(dayStart(l.File), EventUnreadable, logspb.SeverityNumber_SEVERITY_NUMBER_ERROR, "the stored line is no action")
		out.log.Attributes = attrs(func(a *attributes) { a.text("log.record.uid", uid); a.text("ethos.stored_at", out.at) })
		return out
	}
	tooloutput.Fill(e)
	of := describe(e, line.ID())
	made := nanos(e.Time, dayStart(l.File))
	out.log = logRecord(made, EventAction, severity(e.Outcome()), string(clean))
	out.log.Attributes = append(attrs(func(a *attributes) { a.text("log.record.uid", uid) }), of...)
	out.log.TraceId, out.log.SpanId = ids(line.ID())
	if e.Action.Kind != record.KindEvent && !e.Awaits {
		out.span = span(e, made, of)
		out.span.TraceId, out.span.SpanId = out.log.TraceId, out.log.SpanId
	}
	return out
}

func attrs(fill func(*attributes)) attributes {
	var a attributes
	fill(&a)
	return a
}

func logRecord(at uint64, event string, severity logspb.SeverityNumber, body string) *logspb.LogRecord {
	name := strings.TrimPrefix(severity.String(), "SEVERITY_NUMBER_")
	return &logspb.LogRecord{TimeUnixNano: at, ObservedTimeUnixNano: at, EventName: event, SeverityNumber: severity, SeverityText: name, Body: text(body)}
}

// ids returns the trace and span ids for a record: the bytes of its UUID, and
// the first bytes of its SHA-256. If the id is not a UUID, a digest is used
// instead.
func ids(id string) (traceID, spanID []byte) {
	sum := sha256.Sum256([]byte(id))
	traceID = sum[8:24]
	if record.IsID(id) {
		if b, err := hex.DecodeString(strings.ReplaceAll(id, "-", "")); err == nil && slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) {
			traceID = b
		}
	}
	return traceID, sum[:8]
}

func severity(o trace.Outcome) logspb.SeverityNumber {
	switch o {
	case trace.Denied, trace.Failed:
		return logspb.SeverityNumber_SEVERITY_NUMBER_ERROR
	case trace.Asked, trace.Found, trace.Undecided:
		return logspb.SeverityNumber_SEVERITY_NUMBER_WARN
	}
	return logspb.SeverityNumber_SEVERITY_NUMBER_INFO
}

// toolName returns the agent's own name for the tool, else the catalog's, else
// the name of the program.
func toolName(e *trace.Entry) string {
	return cmp.Or(e.Actor.Tool, e.Action.Name, e.Tool(), path.Base(cmp.Or(e.CommandName(), e.Action.Kind)))
}

// describe returns the attributes that the log record and the span share.
func describe(e *trace.Entry, id string) attributes {
	var a attributes
	a.text("ethos.record.id", id)
	a.text("gen_ai.operation.name", "execute_tool")
	a.text("gen_ai.tool.name", toolName(e))
	a.text("gen_ai.tool.type", "function")
	a.text("gen_ai.agent.name", e.Actor.Agent)
	a.text("gen_ai.conversation.id", e.Actor.Session)
	a.text("ethos.outcome", string(e.Outcome()))
	a.text("ethos.action.kind", e.Action.Kind)
	a.text("ethos.action.command", e.CommandName())
	a.text("ethos.workspace", e.Action.Workspace)
	a.text("ethos.cwd", e.Action.Cwd)
	a.text("ethos.mode", e.Actor.Mode)
	a.text("ethos.agent.event", e.Actor.Event)
	if p := e.Actor.Parent; p != nil {
		a.text("ethos.parent.session", p.Session)
	}
	facts := e.AllFacts()
	a.list("ethos.risks", facts.Shell.Risks)
	a.list("ethos.incomplete", facts.Incomplete)
	a.text("ethos.network.mode", facts.Capabilities.Network.Mode)
	describeDecision(&a, e)
	describeResult(&a, e)
	return a
}

func describeDecision(a *attributes, e *trace.Entry) {
	d := e.Decision
	if d == nil {
		return
	}
	a.text("ethos.decision.verdict", d.Verdict)
	a.text("ethos.policy.digest", d.Policy.Digest)
	a.list("ethos.decision.policies", e.Reasons())
	a.bool("ethos.approved", e.Actor.AdminApproved || d.Approval != nil)
	if d.Approval != nil {
		a.text("ethos.approval.by", d.Approval.By)
		a.text("ethos.approval.covers", d.Approval.Covers)
		a.list("ethos.approval.policies", d.Approval.Policies)
	}
}

func describeResult(a *attributes, e *trace.Entry) {
	r := e.Result
	if r == nil {
		return
	}
	a.text("ethos.result.status", r.Status)
	a.text("ethos.result.reason", r.Reason)
	if e.Ran() {
		a.int("process.exit.code", int64(r.ExitCode))
		a.text("ethos.result.signal", r.Signal)
	}
	a.text("ethos.session", e.Session())
	a.text("ethos.sandbox.profile", r.Capture.Sandbox.Profile)
	a.list("ethos.sandbox.weak_controls", weak(r.Capture.Sandbox.Controls))
	if n := len(e.Denials()); n > 0 {
		a.int("ethos.sandbox.denials", int64(n))
	}
}

// weak names the requested controls that are not fully in force.
func weak(controls []record.Control) (names []string) {
	for _, c := range controls {
		if c.State == "degraded" || c.State == "absent" {
			names = append(names, c.Name)
		}
	}
	return names
}

// span returns the span of the tool call. It lasts until the end of the run, or
// else until the decision.
func span(e *trace.Entry, from uint64, of attributes) *tracepb.Span {
	s := &tracepb.Span{Name: "execute_tool " + toolName(e), Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: from, EndTimeUnixNano: from, Attributes: of}
	if e.Decision != nil {
		s.EndTimeUnixNano += millis(e.Decision.DurationMS)
	}
	if e.Result != nil {
		s.EndTimeUnixNano = max(s.EndTimeUnixNano, nanos(e.Result.Started, from)+millis(e.Result.DurationMS))
	}
	kind := ""
	switch o := e.Outcome(); {
	case o == trace.Denied, o == trace.Asked:
		kind = string(o)
	case o == trace.Failed && e.Result.Status == record.StatusExited:
		kind = "exit_status"
	case o == trace.Failed:
		kind = e.Result.Status
	default:
		return s
	}
	s.Attributes = append(slices.Clip(s.Attributes), attrs(func(a *attributes) { a.text("error.type", kind) })...)
	s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: kind}
	return s
}

// millis converts a duration to nanoseconds; an invalid one is 0.
func millis(ms float64) uint64 {
	if ms > 0 && ms < 1e12 {
		return uint64(ms * 1e6)
	}
	return 0
}

// nanos parses RFC 3339. It returns otherwise for an invalid or out-of-range
// text.
func nanos(rfc3339 string, otherwise uint64) uint64 {
	t, err := time.Parse(time.RFC3339Nano, rfc3339)
	if err != nil || t.Year() < 1970 || t.Year() > 2250 {
		return otherwise
	}
	return uint64(t.UnixNano())
}

func dayStart(file string) uint64 {
	t, err := time.Parse("2006/01/02.ndjson", file)
	if err != nil || t.Year() < 1970 {
		return 0
	}
	return uint64(t.UnixNano())
}
