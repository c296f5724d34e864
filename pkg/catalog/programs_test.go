package catalog

import (
	"errors"
	"strings"
	"testing"
)

// TestProgramsAreChecked: a mistake in the data is an error with its line.
func TestProgramsAreChecked(t *testing.T) {
	for _, c := range []struct{ entries, want string }{
		{"- {name: a, words: {runs: x}}\n- {name: b, words: a}", ""},
		{"- {words: {runs: x}}", "1:3: a program has no name"},
		{"- {name: a, words: {runs: x}}\n- {name: a, words: {loads: y}}", `2:3: program "a" stands twice`},
		{"- {name: b, words: {runs: x}}\n- {name: a, words: {runs: x}}", `2:3: program "a" stands after "b"`},
		{"- {name: a}", `1:3: nothing is said of "a"`},
		{"- {name: a, words: {run: x}}", `1:21: unknown key "run" in words`},
		{"- {name: a, word: {runs: x}}", `1:13: unknown key "word" in programs[0]`},
		{"- {name: a, words: {runs: [x]}}", "1:27: runs must be a single value"},
		{"- name: a\n  words:\n    runs: x y x", `3:5: "x" occurs twice in runs of words`},
		{"- {name: a, words: {target: fourth}}", "1:20: unknown target \"fourth\" in words"},
		{"- {name: a, words: {embeds: sh}}", "1:20: unknown embeds \"sh\" in words"},
		{"- {name: a, words: b}", `1:20: words of "a": "b" has none of its own`},
		{"- {name: a, words: b}\n- {name: b, words: c}\n- {name: c, words: {runs: x}}", `1:20: words of "a": "b" has none of its own`},
		{"- {name: a, wrapper: {skip: 1}}", "1:22: wrapper has no kind"},
		{"- {name: a, wrapper: {kind: plane}}", `1:22: unknown kind "plane" in wrapper`},
		{"- {name: a, wrapper: {kind: plain, skip: one}}", "1:42: skip must be a whole number"},
		{"- {name: a, wrapper: {kind: after, queries: x}}", `1:22: the words of a wrapper of kind "after" are its markers`},
		{"- {name: a, files: {effect: inplace}}", `1:20: unknown effect "inplace" in files`},
		{"- {name: a, files: {effect: read, long: 1}}", "1:41: long must be a string"},
		{"- {name: a, interpreter: {shell: fish}}", `1:26: unknown shell "fish" in interpreter`},
		{"- {name: a, interpreter: {program: yes}}", "1:36: program must be true or false"},
		{"- {name: a, network: {operands: url}}", `1:22: unknown operands "url" in network`},
		{"- {name: a, network: {needs: true}}", "1:22: network has no operands"},
		{"- {name: a, network: {operands: urls, values: x, hides: y x}}", `1:22: option "x" is in two lists of network`},
		{"- {name: a, network: {operands: urls, port: 65536}}", "1:22: the port is above 65535"},
		{"- {name: a, traits: [pagers]}", `1:3: unknown trait "pagers" of "a"`},
		{"- {name: a, traits: [pager, filter]}", `1:3: trait "filter" of "a" stands after "pager"`},
		{"- {name: a, traits: [pager, pager]}", `1:3: trait "pager" of "a" stands after "pager"`},
	} {
		var in programsText
		err := decodeYAML(programsFile, []byte("programs:\n"+c.entries+"\n"), &in)
		if err == nil {
			if wrong := in.check(); wrong != nil {
				err = wrong
			}
		}
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.entries, err)
			}
			continue
		}
		var wrong *ConfigError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: no error", c.entries)
			continue
		}
		wrong.Line-- // of "programs:"
		if have := strings.TrimPrefix(wrong.Error(), programsFile+":"); !strings.HasPrefix(have, c.want) {
			t.Errorf("%s: %s, want %s", c.entries, have, c.want)
		}
	}
}
