package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"ethos/pkg/record"
)

// Size limits of the parts of a session's name, in bytes.
const (
	maxName      = 64 // of ethos-sandbox
	maxAgentName = 8
	maxSessionID = 36 // a UUID
	markDigits   = 16 // hexadecimal
)

// SessionName returns the name of the ethos-sandbox session that an agent's calls share:
// AGENT-ID-MARK, which contains only letters, digits, "-", "_" and ".", and is at most 64 bytes
// long. ID is the agent's own session ID, with characters that a name cannot contain replaced, and
// truncated. MARK is derived from the whole ID and from everything else that distinguishes one
// boundary from another, such as the work space and the options. The name is "" if the event names
// no session.
//
// The calls of a sub-agent belong to the session in which it works.
func SessionName(a *record.Actor, boundary ...string) string {
	id := agentSession(a)
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{a.Agent, id}, boundary...), "\x00")))
	return sessionPrefix(a) + hex.EncodeToString(sum[:])[:markDigits]
}

// EndsSession reports whether the agent's session ends with an event.
func EndsSession(e Event) bool {
	d, err := find(e.Actor.Agent, record.Document{})
	return err == nil && d.ends != "" && d.ends == e.Actor.Event
}

// OwnSession reports whether [SessionName] returns this name for the agent's session, with any
// boundary.
func OwnSession(a *record.Actor, name string) bool {
	mark, ok := strings.CutPrefix(name, sessionPrefix(a))
	return ok && agentSession(a) != "" && len(mark) == markDigits && strings.Trim(mark, "0123456789abcdef") == ""
}

// IsSessionName reports whether ethos-sandbox accepts a text as the name of a session.
func IsSessionName(text string) bool {
	return text != "" && len(text) <= maxName && named(text, maxName) == text && strings.IndexByte("-_.", text[0]) < 0
}

func agentSession(a *record.Actor) string {
	if a.Parent != nil && a.Parent.Session != "" {
		return a.Parent.Session
	}
	return a.Session
}

func sessionPrefix(a *record.Actor) string {
	agent := strings.TrimLeft(named(a.Agent, maxAgentName), "-_.")
	return cmp.Or(agent, "agent") + "-" + named(agentSession(a), maxSessionID) + "-"
}

// named replaces characters that a name cannot contain by "-", and truncates the text to n bytes.
func named(text string, n int) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, text)
	return plain[:min(len(plain), n)]
}
