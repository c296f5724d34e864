package e2e

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// garbage is input that is no line, each with the code of the error line that must stand for it.
var garbage = []struct{ text, code string }{
	{"garbage", record.CodeInvalidJSON},
	{"", record.CodeInvalidJSON},
	{"[]", record.CodeInvalidJSON},
	{`{"schema":"ethos/v1"} {}`, record.CodeInvalidJSON},
	{"{\"schema\":\"ethos/v1\",\"id\":\"\xff\"}", record.CodeInvalidUTF8},
	{`{"schema":"ethos/v1","schema":"ethos/v1"}`, record.CodeDuplicateKey},
	{`{"schema":"ethos/v2","id":"a"}`, record.CodeWrongSchema},
	{`{"schema":"ethos/v1","id":7}`, record.CodeWrongType},
	{strings.Repeat("[", 100_000), record.CodeInvalidJSON},
	{`{"schema":"ethos/v1","id":"a","x":` + strings.Repeat("[", 100_000) + "}", record.CodeTooDeep},
	{`{"x":"` + strings.Repeat("y", record.DefaultMaxLine) + `"}`, record.CodeTooLong},
}

// TestGarbageIsNeitherLostNorBelieved: each bad line becomes one error line in its place, the good ones around it go
// through, and the status says so.
func TestGarbageIsNeitherLostNorBelieved(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	facts := s.shell("ethos-facts -- true").mustSucceed(t).stdout
	decided := s.feed(facts, "ethos-decide").mustSucceed(t).stdout
	ran := s.feed(decided, "ethos-sandbox").mustSucceed(t).stdout
	for stage, c := range map[string]struct{ command, good string }{
		"facts":   {"ethos-facts --from records", facts},
		"decide":  {"ethos-decide", facts},
		"sandbox": {"ethos-sandbox", decided},
		"trace":   {"ethos-trace --no-store --format ndjson", ran},
	} {
		t.Run(stage, func(t *testing.T) {
			var input strings.Builder
			for _, g := range garbage {
				input.WriteString(c.good + g.text + "\n")
			}
			input.WriteString(c.good + `{"schema":"ethos/v1","id":"half`)
			o := s.feed(input.String(), c.command).mustExit(t, 3)
			checkErrors(t, stage, parse(t, o))
			if good := len(actions(t, o)); good != len(garbage)+1 {
				t.Errorf("%d good lines went in, %d came out", len(garbage)+1, good)
			}
		})
	}
}

func checkErrors(t *testing.T, stage string, lines []*record.Line) {
	t.Helper()
	var codes []string
	for _, line := range lines {
		if line.Kind() != record.LineError {
			continue
		}
		e := member[record.Error](t, line, "error")
		codes = append(codes, e.Code)
		if e.Stage != stage || e.Message == "" || len(e.InputSHA256) != 64 {
			t.Errorf("error line %+v", e)
		}
	}
	var want []string
	for _, g := range garbage {
		want = append(want, g.code)
	}
	if want = append(want, record.CodeTruncated); !slices.Equal(codes, want) {
		t.Errorf("codes of the error lines:\ngot  %q\nwant %q", codes, want)
	}
}

// TestErrorsTravel: a bad line at the start of the pipe is still there at its end, and no stage forgets it.
func TestErrorsTravel(t *testing.T) {
	s := newSession(t)
	o := s.feed("garbage\n", `ethos-facts --from records | ethos-decide | ethos-sandbox | ethos-trace --no-store --format ndjson
		echo "${PIPESTATUS[@]}"`)
	out := o.lines()
	if len(out) != 2 || out[1] != "3 3 3 3" || !strings.Contains(out[0], `"stage":"facts"`) {
		t.Error(o)
	}
}

// TestEmptyInputIsNotAllowed: no record is not a yes for a hook.
func TestEmptyInputIsNotAllowed(t *testing.T) {
	s := newSession(t)
	for _, agent := range []string{"claude", "codex"} {
		o := s.feed("", "ethos-decide --reply "+agent).mustExit(t, 2)
		if o.stderr == "" {
			t.Errorf("%s: no reason on standard error: %v", agent, o)
		}
	}
}
