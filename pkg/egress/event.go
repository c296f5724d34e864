package egress

import (
	"sync"
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

// Refusals is a Sink that keeps, for each name that the rules refused, the
// pattern that would allow it, in the order of the first refusals. The number
// of names is limited.
type Refusals struct {
	mu      sync.Mutex
	seen    map[string]int
	remedy  []Refused
	dropped int
}

// Refused is a destination that the rules refused.
type Refused struct {
	Name   string
	Port   uint16 // 0 if only the name was asked for
	Reason rule.Reason
	Remedy string // "" if a deny pattern matches
}

const maxRefusals = 1000

// Record keeps a refusal by the rules and ignores all other events.
func (r *Refusals) Record(e Event) {
	switch e.Reason {
	case rule.NotAllowed, rule.Denied, rule.DeniedAddress:
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	refused := Refused{e.Name, e.Port, e.Reason, e.Remedy}
	i, known := r.seen[e.Name]
	switch {
	case known && r.remedy[i].Port == 0:
		r.remedy[i] = refused // now the port is known
	case known:
	case len(r.remedy) == maxRefusals:
		r.dropped++
	default:
		r.seen[e.Name] = len(r.remedy)
		r.remedy = append(r.remedy, refused)
	}
}

// List returns the refused names kept, and the number of further ones that were
// not.
func (r *Refusals) List() (refused []Refused, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Refused(nil), r.remedy...), r.dropped
}
