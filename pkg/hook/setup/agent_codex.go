package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ethos/pkg/lazy"
)

func codexFiles() []file {
	return []file{{name: "config.toml", example: "codex/config.toml", format: tomlFormat{}}}
}

// tomlFormat edits Codex CLI's config.toml. ethos's part is a block between two marks at its end,
// and the switch of the feature.
type tomlFormat struct{}

const (
	blockBegins = "# >>> ethos: written by ethos-decide hook install codex, taken out by hook remove codex"
	blockEnds   = "# <<< ethos"
	switchLine  = "hooks = true # ethos"
)

func tomlBlock(o Options, feature bool) (string, error) {
	var b strings.Builder
	b.WriteString(blockBegins + "\n# Codex CLI runs a hook only once it has been reviewed and trusted: see /hooks.\n")
	if feature {
		b.WriteString("[features]\nhooks = true\n\n")
	}
	write := func(event, matcher, command string) error {
		text, err := compact(command) // a basic string of TOML has the escapes of JSON
		if err == nil {
			fmt.Fprintf(&b, "[[hooks.%s]]\n%s\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = 60\n", event, matcher, event, text)
		}
		return err
	}
	err := write("PreToolUse", "matcher = \"*\"\n", o.hook("codex"))
	if o.Confine != "no" {
		b.WriteString("\n# After a failed call, tells the model what the boundary refused.\n")
		err = errors.Join(err, write("PostToolUse", "matcher = \"Bash\"\n", o.tell("codex")))
		b.WriteString("\n# Has the model go on at the end of a turn while something lacks a proof: proofs in coding_ethos.yml.")
		for _, event := range turnEvents {
			b.WriteString("\n")
			err = errors.Join(err, write(event, "", o.turn("codex")))
		}
		b.WriteString("\n# Ends the boundary that the session's calls share.\n")
		err = errors.Join(err, write("SessionEnd", "", o.end("codex")))
	}
	b.WriteString(blockEnds + "\n")
	return b.String(), err
}

// tomlPatterns find ethos's part, and the switch of the feature.
type tomlPatterns struct{ block, features, on, off, turned *regexp.Regexp }

var patterns = lazy.Value[tomlPatterns]{Make: func() tomlPatterns {
	return tomlPatterns{
		block:    regexp.MustCompile(`(?ms)\n?^` + regexp.QuoteMeta(blockBegins) + `$.*?^` + regexp.QuoteMeta(blockEnds) + `\n?`),
		features: regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*features[ \t]*\][ \t]*(#.*)?$`),
		on:       regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(switchLine) + `\n`),
		off:      regexp.MustCompile(`(?m)^([ \t]*hooks[ \t]*=[ \t]*)false`),
		turned:   regexp.MustCompile(`(?m)^([ \t]*hooks[ \t]*=[ \t]*)true`),
	}
}}

// unnamed removes the name of a library from its error, and says where the text is wrong.
func unnamed(err error, prefix string) error {
	if err == nil {
		return nil
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), prefix))
	}
	return errors.New(strings.TrimPrefix(err.Error(), prefix))
}

func decodeTOML(text []byte) (map[string]any, error) {
	v := map[string]any{}
	err := unnamed(toml.Unmarshal(text, &v), "toml: ")
	return v, err
}

// without removes ethos's part from a text.
func (tomlFormat) without(have []byte) []byte {
	return patterns.Get().on.ReplaceAll(patterns.Get().block.ReplaceAll(have, nil), nil)
}

func (f tomlFormat) install(have []byte, o Options) ([]byte, error) {
	if _, err := decodeTOML(have); err != nil {
		return nil, err
	}
	rest := f.without(have)
	before, err := decodeTOML(rest)
	if err != nil {
		return nil, fmt.Errorf("without ethos's part: %w", err)
	}
	if ours(string(rest)) {
		return nil, errors.New("ethos's hook was put in by hand: take these lines out first")
	}
	features, _ := before["features"].(map[string]any)
	text, at := rest, patterns.Get().features.FindIndex(rest)
	switch on := features["hooks"]; {
	case on == true:
	case on == false:
		text = patterns.Get().off.ReplaceAll(rest, []byte("${1}true"))
	case at != nil:
		text = bytes.Join([][]byte{rest[:at[1]], []byte("\n" + switchLine), rest[at[1]:]}, nil)
	case before["features"] != nil:
		return nil, errors.New("features is not a separate table there: write hooks = true into it first")
	}
	part, err := tomlBlock(o, before["features"] == nil)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 {
		part = "\n" + part
		if text[len(text)-1] != '\n' {
			part = "\n" + part
		}
	}
	text = append(bytes.Clone(text), part...)
	return text, f.check(before, text, o)
}

// check compares the new with the old values: only the switch and ethos's hooks may differ.
func (tomlFormat) check(before map[string]any, text []byte, o Options) error {
	part, err := tomlBlock(o, true)
	if err != nil {
		return err
	}
	ours, err := decodeTOML([]byte(part))
	if err != nil {
		return err
	}
	after, err := decodeTOML(text)
	if err != nil {
		return fmt.Errorf("the edited text would not be valid: %w: add it by hand, as examples/codex has it", err)
	}
	hooks := map[string]any{}
	if have, ok := before["hooks"].(map[string]any); ok {
		for k, v := range have {
			hooks[k] = v
		}
	}
	for event, groups := range ours["hooks"].(map[string]any) {
		have, _ := hooks[event].([]any)
		hooks[event] = append(append([]any{}, have...), groups.([]any)...)
	}
	features := map[string]any{}
	if have, ok := before["features"].(map[string]any); ok {
		for k, v := range have {
			features[k] = v
		}
	}
	features["hooks"] = true
	before["hooks"], before["features"] = hooks, features
	if !reflect.DeepEqual(before, after) {
		return errors.New("the edit would change more than ethos's own part: add it by hand, as examples/codex has it")
	}
	return nil
}

func (f tomlFormat) remove(have []byte) ([]byte, error) {
	if _, err := decodeTOML(have); err != nil {
		return nil, err
	}
	rest := f.without(have)
	if _, err := decodeTOML(rest); err != nil {
		return nil, fmt.Errorf("without ethos's part: %w", err)
	}
	if ours(string(rest)) {
		return nil, errors.New("ethos's hook was put in by hand: take these lines out yourself")
	}
	if len(bytes.TrimSpace(rest)) == 0 {
		return nil, nil
	}
	return rest, nil
}

func (f tomlFormat) has(text []byte) bool {
	return !bytes.Equal(f.without(text), text) || ours(string(text))
}

// restore turns the feature off again if that is all that the edit changes.
func (tomlFormat) restore(have, was []byte) []byte {
	before, err := decodeTOML(was)
	now, fault := decodeTOML(have)
	if err != nil || fault != nil || !featureIs(before, false) || !featureIs(now, true) {
		return have
	}
	text := patterns.Get().turned.ReplaceAll(have, []byte("${1}false"))
	after, err := decodeTOML(text)
	if err != nil || !featureIs(after, false) {
		return have
	}
	now["features"].(map[string]any)["hooks"] = false
	if !reflect.DeepEqual(now, after) {
		return have
	}
	return text
}

func featureIs(v map[string]any, on bool) bool {
	features, _ := v["features"].(map[string]any)
	return features["hooks"] == on
}

func (tomlFormat) state(have []byte) (s State, err error) {
	v, err := decodeTOML(have)
	if err != nil {
		return s, err
	}
	hooks, _ := v["hooks"].(map[string]any)
	groups, _ := hooks["PreToolUse"].([]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		list, _ := group["hooks"].([]any)
		for _, h := range list {
			entry, _ := h.(map[string]any)
			command, _ := entry["command"].(string)
			s.note(command)
		}
	}
	if features, ok := v["features"].(map[string]any); ok && features["hooks"] == false {
		return State{}, nil
	}
	return s, nil
}
