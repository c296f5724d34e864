package gitguard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/timerslack"
)

// Within is the Decider that decides in this process, and asks another one
// where that is not possible. No process is started for a plain git command.
type Within struct {
	// Judge adds the decision to a line as ethos-decide does. With an error it
	// has decided nothing.
	Judge func(context.Context, *record.Line) error
	Else  Decider
}

// Decide decides the lines in order. From the first one on that Judge does not
// decide, they are all asked about elsewhere, because an approval that Judge has
// used up for an earlier one is not there a second time.
func (w Within) Decide(ctx context.Context, lines ...*record.Line) (decisions []record.Decision, err error) {
	for i, line := range lines {
		decision, err := w.decide(ctx, line)
		if err != nil {
			rest, err := w.Else.Decide(ctx, lines[i:]...)
			return append(decisions, rest...), err
		}
		decisions = append(decisions, decision)
	}
	return decisions, nil
}

// decide decides a line that is read from the text of this one, so that Judge
// sees what ethos-decide would read, and changes nothing if it fails.
func (w Within) decide(ctx context.Context, asked *record.Line) (record.Decision, error) {
	line, err := record.ParseLine(bytes.TrimSuffix(asked.AppendTo(nil), []byte("\n")))
	if err == nil {
		err = w.Judge(ctx, line)
	}
	if err != nil {
		return record.Decision{}, err
	}
	return decisionOf(line, asked)
}

// Sibling is the Decider that runs ethos-decide from the directory of ethos-git. It is a separate
// program, so that no git command waits for CEL to be loaded that does not need it.
type Sibling struct {
	Program string
	Environ []string
}

// SiblingOf returns the Sibling for ethos-git's own program file or, in a sandbox, that of
// record.InsideDir.
func SiblingOf(self Identity, environ []string) Sibling {
	program := filepath.Join(filepath.Dir(self.Path), "ethos-decide")
	if closed(record.InsideDecide) {
		program = record.InsideDecide
	}
	return Sibling{Program: program, Environ: inherited(environ)}
}

// inherited returns the variables that ethos-decide gets; none of them controls a runtime.
func inherited(environ []string) []string {
	var out []string
	for _, entry := range environ {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "HOME", "USER", "LANG", "PATH", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME":
			out = append(out, entry)
		}
	}
	return out
}

// The limits of one decision. An argument list has at most a few megabytes, so its line does too.
const (
	maxQuestion    = 64 << 20
	answerDeadline = 30 * time.Second // per line
)

// Decide passes the lines to ethos-decide and returns its decisions, after checking that they
// belong to these lines.
func (s Sibling) Decide(ctx context.Context, lines ...*record.Line) ([]record.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(lines))*answerDeadline)
	defer cancel()
	var question []byte
	for _, line := range lines {
		question = line.AppendTo(question)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Program, "--max-line", strconv.Itoa(maxQuestion))
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Environ, bytes.NewReader(question), &stdout, &stderr
	cmd.Dir = workspaceOf(lines[0])
	err := timerslack.Start(cmd.Run)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1 means a verdict other than allow
		_, hint := Said(stderr.String())
		return nil, refuse(hint, "%s: %v%s", filepath.Base(s.Program), plainError(err), cause(stderr.String()))
	}
	answers := bytes.SplitAfter(bytes.TrimSuffix(stdout.Bytes(), []byte("\n")), []byte("\n"))
	if len(answers) != len(lines) {
		return nil, fmt.Errorf("ethos-decide gave %d answers to %d questions", len(answers), len(lines))
	}
	var decisions []record.Decision
	for i, line := range lines {
		decision, err := answer(line, answers[i])
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, decision)
	}
	return decisions, nil
}

// answer returns the decision in the line that ethos-decide returned.
func answer(asked *record.Line, text []byte) (record.Decision, error) {
	line, err := record.ParseLine(bytes.TrimSuffix(text, []byte("\n")))
	if err != nil {
		return record.Decision{}, fmt.Errorf("read the answer of ethos-decide: %w", err)
	}
	return decisionOf(line, asked)
}

// decisionOf returns the decision in a decided line, after checking that it
// belongs to the line that was asked about.
func decisionOf(line, asked *record.Line) (decision record.Decision, err error) {
	if err := line.Decode("decision", &decision); err != nil {
		return decision, fmt.Errorf("read the answer of ethos-decide: %w", err)
	}
	if decision.Approval != nil {
		if err := asApproved(asked, line); err != nil {
			return decision, err
		}
	}
	subject, err := asked.Subject()
	if err != nil {
		return decision, err
	}
	if decision.Subject != subject {
		return decision, errors.New("the answer of ethos-decide is about another record")
	}
	return decision, nil
}

// asApproved copies to a record the actor and the facts that a person's approval has changed in the
// answer.
func asApproved(asked, answer *record.Line) error {
	if asked.ID() != answer.ID() || !bytes.Equal(asked.Raw("action"), answer.Raw("action")) {
		return nil // another record, as the subject shows
	}
	for _, member := range []string{"actor", "facts"} {
		if err := asked.Set(member, json.RawMessage(answer.Raw(member))); err != nil {
			return err
		}
	}
	return nil
}

func workspaceOf(line *record.Line) string {
	var action record.Action
	if line.Decode("action", &action) != nil {
		return "/"
	}
	if info, err := os.Stat(action.Workspace); err != nil || !info.IsDir() {
		return "/" // core.worktree may name a directory that does not exist
	}
	return action.Workspace
}

// plainError returns the reason why a program did not start, without its path, which the message
// already has.
func plainError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// cause returns the error message of a program without the program's name, or else the last line of
// its output.
func Said(text string) (message, hint string) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		level, said, ok := strings.Cut(rest, ": ")
		switch {
		case !ok || strings.Contains(name, " "): // a line of a longer message
		case level == "error" && message == "":
			message = said
		case level == "hint" && message != "":
			return message, said
		}
	}
	return message, ""
}

// cause is the error a program printed, without its name; else the last line of what it printed.
func cause(text string) string {
	if message, _ := Said(text); message != "" {
		return ": " + message
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return ": " + text[strings.LastIndexByte(text, '\n')+1:]
}
