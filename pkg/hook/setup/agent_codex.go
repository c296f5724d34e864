package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ethos/pkg/lazy"
)

func codexFiles() []file {
	return []file{{name: "config.toml", example: "codex/config.toml", off: codexSwitches(), format: tomlFormat{}}}
}

// codexSwitches: https://developers.openai.com/codex/hooks and codex-rs/features, where codex_hooks is
// the former name of the feature. The table of a profile counts before that of the file.
func codexSwitches() *switches {
	s := &switches{user: []string{"config.toml"}, project: []string{".codex/config.toml"}, more: codexState}
	for _, table := range [][]string{{"features"}, {"profiles", "$", "features"}} {
		for _, name := range []string{"codex_hooks", "hooks"} {
			s.values = append(s.values, toggle{path: append(slices.Clone(table), name)})
		}
	}
	return s
}

// codexState says whether the person has turned ethos's hook off in Codex CLI's list of hooks, which
// keeps that below hooks.state of the person's file, as FILE:EVENT:GROUP:HOOK.
func codexState(all []layer) string {
	for _, l := range all {
		groups, _ := get(l.values, []string{"hooks", "PreToolUse"}).([]any)
		for i, g := range groups {
			if !slices.ContainsFunc(groupCommands(g), ours) {
				continue
			}
			for _, path := range []string{l.path, realPath(l.path)} {
				key := fmt.Sprintf("%s:pre_tool_use:%d:0", path, i)
				for _, by := range all {
					states, _ := get(by.values, []string{"hooks", "state"}).(map[string]any)
					for name, state := range states {
						if !by.project && strings.HasSuffix(name, key) && get(state, []string{"enabled"}) == false {
							return by.path + " turns that hook off, in hooks.state"
						}
					}
				}
			}
		}
	}
	return ""
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// tomlParts returns the groups of hooks with one of ethos.
func tomlParts(v map[string]any) (list []part) {
	events, _ := v["hooks"].(map[string]any)
	for _, event := range slices.Sorted(maps.Keys(events)) {
		groups, _ := events[event].([]any)
		for _, g := range groups {
			if text := groupCommands(g); slices.ContainsFunc(text, ours) {
				list = append(list, part{[]string{"hooks", event}, plain(g), strings.Join(text, "\n")})
			}
		}
	}
	return list
}

// groupCommands returns the command lines of a group of hooks.
func groupCommands(group any) (list []string) {
	hooks, _ := get(group, []string{"hooks"}).([]any)
	for _, h := range hooks {
		if command, ok := get(h, []string{"command"}).(string); ok {
			list = append(list, command)
		}
	}
	return list
}

// tomlFormat edits Codex CLI's config.toml. ethos's part is a block between two marks at its end,
// and the switch of the feature.
type tomlFormat struct{}

const (
	blockBegins = "# >>> ethos: written by ethos-decide hook install codex, taken out by hook remove codex"
	blockEnds   = "# <<< ethos"
	switchLine  = "hooks = true # ethos"
)

// codexGroup is one group with one hook.
type codexGroup struct {
	event, matcher, command string
	comment                 string // above it; "" for none
}

func codexGroups(o Options) []codexGroup {
	list := []codexGroup{{event: "PreToolUse", matcher: "*", command: o.hook("codex")}}
	if o.Confine == "no" {
		return list
	}
	list = append(list, codexGroup{"PostToolUse", "Bash", o.tell("codex"), "After a failed call, tells the model what the boundary refused."})
	proofs := "Has the model go on at the end of a turn while something lacks a proof: proofs in coding_ethos.yml."
	for _, event := range turnEvents {
		list = append(list, codexGroup{event: event, command: o.turn("codex"), comment: proofs})
		proofs = ""
	}
	return append(list, codexGroup{event: "SessionEnd", command: o.end("codex"), comment: "Ends the boundary that the session's calls share."})
}

// codexHooks returns the groups as values.
func codexHooks(o Options) (list []hooked) {
	for _, g := range codexGroups(o) {
		group := object{{"hooks", []any{object{{"type", "command"}, {"command", g.command}, {"timeout", 60}}}}}
		if g.matcher != "" {
			group = append(group, member{"matcher", g.matcher})
		}
		list = append(list, hooked{[]string{"hooks", g.event}, group, g.event == "PreToolUse"})
	}
	return list
}

func tomlBlock(o Options, feature bool) (string, error) {
	var b strings.Builder
	b.WriteString(blockBegins + "\n# Codex CLI runs a hook only once it has been reviewed and trusted: see /hooks.\n")
	if feature {
		b.WriteString("[features]\nhooks = true\n\n")
	}
	for i, g := range codexGroups(o) {
		if i > 0 {
			b.WriteString("\n")
		}
		if g.comment != "" {
			b.WriteString("# " + g.comment + "\n")
		}
		matcher := ""
		if g.matcher != "" {
			matcher = fmt.Sprintf("matcher = %q\n", g.matcher)
		}
		text, err := compact(g.command) // a basic string of TOML has the escapes of JSON
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "[[hooks.%s]]\n%s\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = %s\ntimeout = 60\n", g.event, matcher, g.event, text)
	}
	b.WriteString(blockEnds + "\n")
	return b.String(), nil
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
	if why := codexSwitches().find([]layer{{path: "it", values: withoutMember(before, "features")}}, nil); why != "" {
		return nil, errors.New(why + ": change it first")
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

// withoutMember returns values without a member.
func withoutMember(v map[string]any, name string) map[string]any {
	v = maps.Clone(v)
	delete(v, name)
	return v
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
