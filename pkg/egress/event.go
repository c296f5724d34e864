package egress

import (
	"time"

	"ethos/pkg/egress/rule"
)

// Door is the way in which a client asked for a destination.
type Door string

// The doors of the gateway.
const (
	DoorTransparent Door = "transparent"
	DoorConnect     Door = "connect"
	DoorHTTP        Door = "http"
	DoorSOCKS5      Door = "socks5"
	DoorDNS         Door = "dns"
)

// The reasons for a refusal, in addition to those of package rule. They are the
// values of the header x-ethos-error.
const (
	BadRequest    rule.Reason = "bad-request"        // not HTTP, SOCKS5 or a host name, or ambiguous
	UnknownTarget rule.Reason = "unknown-address"    // an address of the table that belongs to no name
	Unresolved    rule.Reason = "unresolved"         // an allowed name without an address
	Unreachable   rule.Reason = "unreachable"        // no allowed address accepted the connection
	UpstreamError rule.Reason = "upstream-proxy"     // the upstream proxy refused or failed
	DeniedSNI     rule.Reason = "denied-server-name" // TLS for a server name other than the checked one
	BadHello      rule.Reason = "bad-client-hello"   // TLS that does not begin with one unambiguous ClientHello
	HiddenName    rule.Reason = "hidden-server-name" // TLS with encrypted ClientHello
	Overloaded    rule.Reason = "too-many-names"     // the table is full
	Busy          rule.Reason = "too-many-requests"  // too many are under way
	Interrupted   rule.Reason = "connection-reset"   // allowed, but ended by an error on either side
	Stopped       rule.Reason = "ended-with-run"     // still under way when the gateway was stopped
)

// Event describes one connection or one refused name.
type Event struct {
	Time     time.Time     `json:"time"` // when the client asked
	Door     Door          `json:"door"`
	Name     string        `json:"name"` // A-labels or an address; the client's text if that is not a host
	Port     uint16        `json:"port,omitempty"`
	Address  string        `json:"address,omitempty"` // the address that was dialled
	Via      string        `json:"via,omitempty"`     // the upstream proxy
	Sent     int64         `json:"sent"`              // bytes from the client to the server
	Received int64         `json:"received"`
	Duration time.Duration `json:"duration_ns"`
	Allowed  bool          `json:"allowed"`
	Rule     string        `json:"rule,omitempty"`   // the pattern that decided
	Reason   rule.Reason   `json:"reason,omitempty"` // for a refusal, a failure or an unclean end
	Detail   string        `json:"detail,omitempty"` // the reason in plain words
	Remedy   string        `json:"remedy,omitempty"` // the smallest pattern, or [rule.Endpoint], that would allow it
}

// Sink receives events. Record is called concurrently when a connection ends,
// and should not block.
type Sink interface {
	Record(Event)
}

// SinkFunc adapts a function to a Sink.
type SinkFunc func(Event)

// Record calls f.
func (f SinkFunc) Record(e Event) { f(e) }
