package record

import (
	"cmp"
	"strconv"
	"strings"

	"ethos/pkg/printable"
)

// The ways in which a destination is requested; see [Connection].
const (
	DoorTransparent = "transparent" // an address that the name server returned
	DoorConnect     = "connect"     // HTTP CONNECT
	DoorHTTP        = "http"        // a plain HTTP request to the proxy
	DoorSOCKS5      = "socks5"
	DoorDNS         = "dns" // a name that was refused before any connection
)

// Codes of [Connection.Reason] for a connection that failed, or that ended with the run. Every
// other code of a connection that was not allowed means that it was refused.
const (
	ConnectionUnresolved  = "unresolved"        // the name has no address
	ConnectionUnreachable = "unreachable"       // no address accepted the connection
	ConnectionUpstream    = "upstream-proxy"    // the upstream proxy refused or failed
	ConnectionOverloaded  = "too-many-names"    // no room for one more name
	ConnectionBusy        = "too-many-requests" // too many requests are under way
	ConnectionInterrupted = "connection-reset"  // ended by an error of either side
	ConnectionStopped     = "ended-with-run"    // still open when the run ended
)

// ConnectionDenied is the code of a destination that a deny rule names.
const ConnectionDenied = "denied-by-denylist"

// ConnectionHidden is the code of TLS that hides the name of its server, or seems to do so.
const ConnectionHidden = "hidden-server-name"

// ConnectionRequest is the code of a request that no rule allows, to a host that rules name.
const ConnectionRequest = "denied-request"

// LayerNetwork is the [Denial.Layer] of refused connections.
const LayerNetwork = "network"

// Lookups are the names that were looked up outside because one pattern with a star allows them,
// whether they were connected to or not.
type Lookups struct {
	Rule  string `json:"rule" required:"true"`  // the pattern
	Names int    `json:"names" required:"true"` // distinct ones; no more than 10,000 are told apart in a run
	Times int    `json:"times" required:"true"` // look-ups of all of them
}

// Connection is one connection that the command requested, or one name that was refused. Its texts
// come from the command.
type Connection struct {
	Time       string  `json:"time" required:"true"`    // time of the request; RFC 3339, nanoseconds, UTC
	Door       string  `json:"door" required:"true"`    // transparent | connect | http | socks5 | dns
	Name       string  `json:"name" required:"true"`    // in A-labels, or an address; as requested if it is not a host
	Port       int     `json:"port,omitempty"`          // 0 if only the name was requested
	Address    string  `json:"address,omitempty"`       // that was connected to
	Via        string  `json:"via,omitempty"`           // the upstream proxy
	Sent       int64   `json:"sent"`                    // bytes from the command to the server
	Received   int64   `json:"received"`                // bytes from the server to the command
	DurationMS float64 `json:"duration_ms"`             // until it ended
	Allowed    bool    `json:"allowed" required:"true"` // allowed by the rules, and connected
	Rule       string  `json:"rule,omitempty"`          // the pattern that decided
	Reason     string  `json:"reason,omitempty"`        // code of a refusal, a failure or an unclean end
	Detail     string  `json:"detail,omitempty"`        // the reason in words
	Remedy     string  `json:"remedy,omitempty"`        // the smallest pattern that would allow it; "" if none may
}

// ConnectionVerdict is the outcome of a connection; the worst outcome has the lowest value.
type ConnectionVerdict int

// The verdicts.
const (
	ConnectionWasRefused ConnectionVerdict = iota
	ConnectionFailed
	ConnectionEnded // with the run, before it was connected
	ConnectionWasAllowed
)

// String returns the outcome as a word.
func (v ConnectionVerdict) String() string {
	return [...]string{"refused", "failed", "ended", "allowed"}[v]
}

// Verdict returns the outcome of the connection.
func (c *Connection) Verdict() ConnectionVerdict {
	if c.Allowed {
		return ConnectionWasAllowed
	}
	switch c.Reason {
	case ConnectionUnresolved, ConnectionUnreachable, ConnectionUpstream,
		ConnectionOverloaded, ConnectionBusy, ConnectionInterrupted:
		return ConnectionFailed
	case ConnectionStopped:
		return ConnectionEnded
	}
	return ConnectionWasRefused
}

// Refused reports whether the destination was refused.
func (c *Connection) Refused() bool { return c.Verdict() == ConnectionWasRefused }

// Target returns the destination as name:port, or only the name if the port is not known. A
// connection without a name is a request that could not be parsed.
func (c *Connection) Target() string {
	switch {
	case c.Name == "":
		return "a request"
	case c.Port == 0:
		return c.Name
	case strings.Contains(c.Name, ":"):
		return "[" + c.Name + "]:" + strconv.Itoa(c.Port)
	}
	return c.Name + ":" + strconv.Itoa(c.Port)
}

// Denial returns a refused connection in the form of the list of denials, in printable text.
// Refusals of one destination have equal denials.
func (c *Connection) Denial() Denial {
	d := Denial{Layer: LayerNetwork, What: brief(c.Target()), Reason: brief(cmp.Or(c.Detail, c.Reason, "not allowed"))}
	switch {
	case c.Reason == ConnectionDenied:
		d.Reason = "the deny rule " + brief(cmp.Or(c.Rule, "of the run")) + " names it"
	case c.Reason == ConnectionHidden:
		d.Remedy = "--sni allow"
	case c.Reason == ConnectionRequest:
		if isRequest(c.Remedy) {
			d.Remedy = "--allow-request " + printable.Word(c.Remedy)
		}
	case isPattern(c.Remedy):
		d.Remedy = "--allow-domain " + printable.Word(c.Remedy)
	}
	return d
}

// isPattern reports whether text can be a pattern of destinations. Nothing else is suggested to a
// person.
func isPattern(text string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_*:/[]", r)
	}
	return text != "" && len(text) <= maxText && !strings.ContainsFunc(text, other)
}

// isRequest reports whether text can be a rule for one request: a host, a method and a path. It
// must not contain a star, because no suggestion may allow more than what was refused.
func isRequest(text string) bool {
	words := strings.Split(text, " ")
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~%+,=@:/[]", r)
	}
	return len(words) == 3 && len(text) <= maxText && isPattern(words[0]) && strings.HasPrefix(words[2], "/") && !strings.ContainsFunc(words[1]+words[2], other)
}

// Cut limits the length of the connection's texts, because a command can ask a proxy for a name of
// many thousand bytes, any number of times. A pattern that is too long for a host is removed.
func (c *Connection) Cut() {
	for _, text := range []*string{&c.Name, &c.Address, &c.Via, &c.Rule, &c.Detail} {
		*text = printable.Clip(*text, maxText)
	}
	if len(c.Remedy) > maxText {
		c.Remedy = ""
	}
}

// maxText is the longest text, in bytes; a host name has at most 253.
const maxText = 300

func brief(text string) string { return printable.Line(printable.Clip(text, maxText)) }
