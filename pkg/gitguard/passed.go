package gitguard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
)

// The members of a passed call's line around its one git entry, as pkg/record encodes empty facts
// and a plain allowance. Encoding them from Go values takes longer than everything else that is
// done for git status.
const (
	noCapabilities = `{"sandbox_profile":"","seccomp_profile":"","tags":[],"read_paths":[],"write_paths":[],"deny_read_paths":[],` +
		`"allow_read_within_deny":[],"deny_write_paths":[],"cache_paths":[],"unix_sockets":[],"requires_network":false,"requires_git":false,` +
		`"requires_env":false,"network":{"mode":"","allow_domains":[],"deny_domains":[]},"env":{"pass":[],"set":{}},` +
		`"git":"","enforce":"","timeout_seconds":0,"memory_mb":0,"cpu_quota_percent":0,"pids":0,"open_files":0,"output_bytes":0,"granted_by":[]}`
	factsBefore = `{"shell":{"parsed":false,"risks":[],"commands":[],"reads":[],"writes":[],"unresolved":false,"depth_exceeded":false},"git":[`
	factsAfter  = `],"files":[],"tool":{"id":"","managed":false,"capabilities":` + noCapabilities + `},"capabilities":` + noCapabilities +
		`,"repo":{"root":"","branch":"","detached":false,"remotes":[],"aliases":{},"protected_branches":[]},"incomplete":[]}`
	allowance = `{"verdict":"allow","matches":[],"errors":[],"policy":{"digest":"","packs":[],"evaluated":0},"subject":""}`
)

// passed returns the line of a call for which no policy was evaluated.
func passed(l *looked, now time.Time) (*record.Line, error) {
	git, err := gitJSON(&l.reading.Git)
	if err != nil {
		return nil, refuse("", "record git %s: %v", l.reading.Git.Subcommand, err)
	}
	facts := append(append([]byte(factsBefore), git...), factsAfter...)
	return record.NewReadyLine(now, record.Ready{Name: "action", JSON: l.actionJSON()}, record.Ready{Name: "actor", JSON: l.actorJSON()},
		record.Ready{Name: "facts", JSON: facts}, record.Ready{Name: "decision", JSON: []byte(allowance)}), nil
}

func (l *looked) actionJSON() []byte {
	text := append(record.AppendString([]byte(`{"kind":`), l.action.Kind), `,"argv":`...)
	text = append(record.AppendStrings(text, l.action.Argv), `,"cwd":`...)
	text = append(record.AppendString(text, l.action.Cwd), `,"workspace":`...)
	return append(record.AppendString(text, l.action.Workspace), '}')
}

func (l *looked) actorJSON() []byte {
	text := append(record.AppendString([]byte(`{"agent":"","event":"","tool":`), l.actor.Tool), `,"session":"","mode":`...)
	return append(record.AppendString(text, l.actor.Mode), `,"admin_approved":false}`...)
}

// gitJSON encodes a git entry as record.Git does. It leaves fields that are rare for a command that
// only reads to encoding/json.
func gitJSON(g *record.Git) ([]byte, error) {
	if len(g.Refspecs)+len(g.Config)+len(g.Globals)+len(g.Loses) > 0 || slices.Contains(g.Args, nil) {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		err := e.Encode(g)
		return bytes.TrimSuffix(text.Bytes(), []byte{'\n'}), err
	}
	args := make([]string, len(g.Args))
	for i, word := range g.Args {
		args[i] = *word
	}
	text := record.AppendString([]byte(`{"subcommand":`), g.Subcommand)
	text = appendNonEmpty(text, `,"alias_of":`, g.AliasOf)
	text = record.AppendStrings(append(text, `,"args":`...), args)
	text = record.AppendStrings(append(text, `,"globals":{},"class":`...), g.Class)
	text = record.AppendStrings(append(text, `,"dangers":`...), g.Dangers)
	text = appendNonEmpty(append(text, `,"refspecs":[]`...), `,"remote":`, g.Remote)
	text = record.AppendStrings(append(text, `,"branch_targets":`...), g.BranchTargets)
	text = record.AppendStrings(append(text, `,"config":[],"paths":`...), g.Paths)
	text = record.AppendStrings(append(text, `,"unknown":`...), g.Unknown)
	return append(text, '}'), nil
}

// appendNonEmpty appends a member that is omitted if it is empty.
func appendNonEmpty(text []byte, name, value string) []byte {
	if value == "" {
		return text
	}
	return record.AppendString(append(text, name...), value)
}

// longest is the length up to which a word is too short to be any kind of secret that is searched
// for.
const longest = 12

// harmless reports whether the line of a passed call cannot contain a secret, because its words and
// the parts of its paths are short and plain. It avoids the search for git status.
func (l *looked) harmless() bool {
	if !l.plain() {
		return false
	}
	for _, w := range l.call.Args {
		if !plainWord(w) {
			return false
		}
	}
	for part := range strings.SplitSeq(l.action.Cwd, "/") {
		if !plainWord(part) {
			return false
		}
	}
	return true
}

// plainWord reports whether w is an option of letters, or short, and contains no character that
// joins a name with a value.
func plainWord(w string) bool {
	option := strings.HasPrefix(w, "-")
	for _, r := range w {
		switch {
		case r >= 'a' && r <= 'z', r == '-', r == '.', r == '_':
		case option || r > 0x7e || r < ' ' || r == '=' || r == ':' || r == '@':
			return false
		}
	}
	return option || len(w) <= longest
}
