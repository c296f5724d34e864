package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// ErrConfined is returned by [Confine] for a call that already has the form that Confine produces.
var ErrConfined = errors.New("the call is confined already")

// Boundary is the command line of the sandbox, up to the command it is to run.
type Boundary struct {
	Program string   // path of ethos-sandbox
	Flags   []string // for example --profile agent-shell
	Record  string   // ID of the record to which the result is added; "" for none
}

// Confine returns the tool input that runs the shell call of an agent's event inside the boundary.
// The input keeps all its keys. The command is rewritten to `PROGRAM shell FLAGS -c 'ORIGINAL'`,
// or, for an argument vector, to PROGRAM run FLAGS -- ORIGINAL. The error says why the call stays
// unchanged.
func Confine(dialect, event string, a *record.Action, b Boundary) (json.RawMessage, error) {
	switch {
	case b.holds(a):
		return nil, ErrConfined
	case !rewrites(dialect, event):
		return nil, fmt.Errorf("%s accepts no rewritten call in its event %s", dialect, event)
	case a.Kind == record.KindShell:
		return confineScript(a, b)
	case a.Kind == record.KindExec:
		return confineArgv(a, b)
	}
	return nil, fmt.Errorf("an action of kind %s runs no shell", a.Kind)
}

func confineScript(a *record.Action, b Boundary) (json.RawMessage, error) {
	return replaced(a.Input, b.wrap(a.Script), func(raw json.RawMessage) bool {
		var text string
		return json.Unmarshal(raw, &text) == nil && text == a.Script
	})
}

func confineArgv(a *record.Action, b Boundary) (json.RawMessage, error) {
	return replaced(a.Input, slices.Concat([]string{b.Program, "run"}, b.record(), b.Flags, []string{"--"}, a.Argv), func(raw json.RawMessage) bool {
		var words []string
		return json.Unmarshal(raw, &words) == nil && slices.Equal(words, a.Argv)
	})
}

// recordOption passes the ID of its record to a confined call.
const recordOption = "--record"

func (b Boundary) record() []string {
	if b.Record == "" {
		return nil
	}
	return []string{recordOption, b.Record}
}

// holds reports whether a call is exactly what Confine produces for some other call, with any
// record.
func (b Boundary) holds(a *record.Action) bool {
	if a.Kind == record.KindShell {
		return b.unwrap(a.Script)
	}
	words := a.Argv
	if len(words) > 3 && words[2] == recordOption && record.IsID(words[3]) {
		words = slices.Concat(words[:2], words[4:])
	}
	front := slices.Concat([]string{b.Program, "run"}, b.Flags, []string{"--"})
	return len(words) > len(front) && slices.Equal(words[:len(front)], front)
}

// wrap returns the command line that runs a script inside the boundary.
func (b Boundary) wrap(script string) string { return b.front() + quote(script) }

func (b Boundary) front() string {
	words := []string{quoteIfNeeded(b.Program), "shell"}
	for _, f := range slices.Concat(b.record(), b.Flags) {
		words = append(words, quoteIfNeeded(f))
	}
	return strings.Join(words, " ") + " -c "
}

// unwrap reports whether a script is exactly what wrap returns for some other script: the front and
// one quoted word. A script that is only similar is wrapped again, because an agent might choose a
// boundary of its own.
func (b Boundary) unwrap(script string) bool {
	shell := quoteIfNeeded(b.Program) + " shell "
	if rest, ok := strings.CutPrefix(script, shell+recordOption+" "); ok {
		if id, rest, _ := strings.Cut(rest, " "); record.IsID(id) {
			script = shell + rest
		}
	}
	b.Record = ""
	word, ok := strings.CutPrefix(script, b.front())
	if !ok || len(word) < 2 || word[0] != '\'' || word[len(word)-1] != '\'' {
		return false
	}
	inner := strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
	return quote(inner) == word
}

// quote returns text, which must not contain NUL, as one shell word in POSIX single quotes, between
// which every character is literal.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// quoteIfNeeded does not quote words that are literal in every shell.
func quoteIfNeeded(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return quote(word)
}

// replaced returns the input with a new value for the member that holds the command. The other
// members keep their text; the order of members is alphabetical.
func replaced(input json.RawMessage, command any, is func(json.RawMessage) bool) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil || len(members) == 0 {
		return nil, errors.New("the record does not contain the agent's own input")
	}
	var found []string
	for name, raw := range members {
		if is(raw) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) == 0 {
		return nil, errors.New("the agent's input does not contain the command that was decided")
	}
	name := found[0]
	if i := slices.IndexFunc(commandKeys, func(k string) bool { return slices.Contains(found, k) }); i >= 0 {
		name = commandKeys[i]
	}
	text, err := encoded(command)
	if err != nil {
		return nil, err
	}
	members[name] = text
	return encoded(members)
}

// commandKeys are the names under which agents send a command. They are needed because a
// description may have the same text as the command.
var commandKeys = []string{"command", "cmd", "script"}
