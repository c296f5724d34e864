package gitguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"ethos/pkg/record"
)

// The members of a passed call's line around its one git entry, as pkg/record encodes empty facts and a plain
// allowance: to have them made from Go values takes longer than all else that is done for git status.
const (
	noCapabilities = `{"sandbox_profile":"","seccomp_profile":"","tags":[],"read_paths":[],"write_paths":[],"deny_read_paths":[],` +
		`"allow_read_within_deny":[],"deny_write_paths":[],"cache_paths":[],"unix_sockets":[],"requires_network":false,"requires_git":false,` +
		`"requires_env":false,"requires_processes":false,"network":{"mode":"","allow_domains":[],"deny_domains":[]},"env":{"pass":[],"set":{}},` +
		`"git":"","enforce":"","timeout_seconds":0,"memory_mb":0,"cpu_quota_percent":0,"pids":0,"open_files":0,"output_bytes":0,"granted_by":[]}`
	factsBefore = `{"shell":{"parsed":false,"risks":[],"commands":[],"reads":[],"writes":[],"unresolved":false,"depth_exceeded":false},"git":[`
	factsAfter  = `],"files":[],"tool":{"id":"","managed":false,"capabilities":` + noCapabilities + `},"capabilities":` + noCapabilities +
		`,"repo":{"root":"","branch":"","detached":false,"remotes":[],"aliases":{},"protected_branches":[]},"incomplete":[]}`
	allowance = `{"verdict":"allow","matches":[],"errors":[],"policy":{"digest":"","packs":[],"evaluated":0},"subject":""}`
)

// passed is the line of a call that no policy was asked about.
func passed(l *looked, now time.Time) (*record.Line, error) {
	var facts bytes.Buffer
	facts.WriteString(factsBefore)
	e := json.NewEncoder(&facts)
	e.SetEscapeHTML(false)
	err := e.Encode(l.reading.Git)
	facts.Truncate(facts.Len() - 1) // the newline
	facts.WriteString(factsAfter)
	line := record.NewLine("", now, l.action, l.actor)
	err = errors.Join(err, line.Set("facts", json.RawMessage(facts.Bytes())), line.Set("decision", json.RawMessage(allowance)))
	if err != nil {
		return nil, refuse("", "record git %s: %v", l.reading.Git.Subcommand, err)
	}
	return line, nil
}

// longest is the length up to which a word is too short to be a secret of any kind that is looked for.
const longest = 12

// harmless reports whether nothing that the line of a passed call holds can be a secret: its words and the parts of its
// paths are short and plain. It spares git status the search.
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

// plainWord reports whether w is an option of letters, or short, and has no sign that joins a name with a value.
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
