package lab

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"ethos/pkg/lazy"
)

// Tally is the parsed output of a guest.
type Tally struct {
	Cases, Passed, Failed int
	Results               []Result
	Processor             time.Duration // host processor time that the machine used
}

// Result is the result of one case.
type Result struct {
	Name   string
	Status int
	Took   time.Duration
	Output string
}

// BeginMark, EndMark and TallyMark return the marker lines that a guest prints.
func BeginMark(name string) string { return fmt.Sprintf(markBegin, name) }
func EndMark(name string, status int, took time.Duration) string {
	return fmt.Sprintf(markEnd, name, status, took.Milliseconds())
}
func TallyMark(cases, passed, failed int) string {
	return fmt.Sprintf(markTally, cases, passed, failed)
}

// ReadTally reads a guest's console to its end. It fails unless the guest began and ended each case
// of the plan, in order, and counted the same number.
func ReadTally(console io.Reader, plan Plan) (Tally, error) {
	var t Tally
	var current *Result
	counted := false
	in := bufio.NewReader(console)
	for {
		line, err := in.ReadString('\n')
		text := strings.TrimRight(line, "\r\n")
		if at := strings.IndexByte(text, '\x1e'); at >= 0 {
			done, markErr := t.mark(text[at:], &current)
			if markErr != nil {
				return t, markErr
			}
			counted = counted || done
		} else if current != nil {
			current.Output += text + "\n"
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return t, fmt.Errorf("read the guest's console: %w", err)
		}
	}
	return t, t.check(plan, counted, current)
}

// mark parses one marker line; done is true for the tally.
func (t *Tally) mark(text string, current **Result) (done bool, err error) {
	var name string
	var status, ms int
	switch {
	case *current != nil && !scan(text, markEnd, &name, &status, &ms):
		return false, fmt.Errorf("guest printed %q in the middle of case %q", text[1:], (*current).Name)
	case scan(text, markBegin, &name):
		t.Results = append(t.Results, Result{Name: name, Status: -1})
		*current = &t.Results[len(t.Results)-1]
	case scan(text, markEnd, &name, &status, &ms):
		if *current == nil || (*current).Name != name {
			return false, fmt.Errorf("guest ended case %q that it had not begun", name)
		}
		(*current).Status, (*current).Took = status, time.Duration(ms)*time.Millisecond
		*current = nil
	case scan(text, markTally, &t.Cases, &t.Passed, &t.Failed):
		return true, nil
	}
	return false, nil
}

func scan(text, format string, into ...any) bool {
	n, err := fmt.Sscanf(text, format, into...)
	return err == nil && n == len(into)
}

func (t *Tally) check(plan Plan, counted bool, current *Result) error {
	switch {
	case !counted && current != nil:
		return fmt.Errorf("guest stopped in case %q", current.Name)
	case !counted:
		return fmt.Errorf("guest ended without a tally after %d of %d cases", len(t.Results), len(plan.Cases))
	case t.Cases != len(plan.Cases) || len(t.Results) != len(plan.Cases) || t.Passed+t.Failed != t.Cases:
		return fmt.Errorf("guest was sent %d cases, ran %d and counted %d", len(plan.Cases), len(t.Results), t.Cases)
	}
	for i, c := range plan.Cases {
		if t.Results[i].Name != c.Name {
			return fmt.Errorf("case %d: guest ran %q, was sent %q", i+1, t.Results[i].Name, c.Name)
		}
	}
	return nil
}

// passedLine is a line of no interest when something failed: progress, what passed,
// the kernel's messages.
var passedLine = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^(=== |--- PASS|\[ *\d+\.\d+\] )`)
}}

// Essence is the output of a test program without what passed.
func (r Result) Essence() string {
	var kept strings.Builder
	for line := range strings.Lines(r.Output) {
		if text := strings.TrimSpace(line); text != "" && !passedLine.Get().MatchString(text) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Failures are the lines that say which tests failed, or that the program did, each
// with some lines before it; "" if there are none.
func (r Result) Failures() string {
	const before = 12
	lines := strings.SplitAfter(r.Essence(), "\n")
	var kept strings.Builder
	next := 0
	for i, line := range lines {
		if strings.Contains(line, "--- FAIL") || strings.HasPrefix(line, "panic: ") {
			kept.WriteString(strings.Join(lines[max(next, i-before):i+1], ""))
			next = i + 1
		}
	}
	return kept.String()
}
