package egress

import (
	"sync"
	"time"

	"ethos/pkg/egress/rule"
)

// Door is the way by which a destination was asked for.
type Door string

// The doors.
const (
	DoorTransparent Door = "transparent"
	DoorConnect     Door = "connect"
	DoorHTTP        Door = "http"
	DoorSOCKS5      Door = "socks5"
	DoorDNS         Door = "dns"
)

// The reasons of a refusal, beside those of package rule. They are the values
// of the header x-ethos-error.
const (
	BadRequest    rule.Reason = "bad-request"        // no HTTP, SOCKS5 or host name, or a doubtful one
	UnknownTarget rule.Reason = "unknown-address"    // an address of the table that no name has
	Unresolved    rule.Reason = "unresolved"         // an allowed name has no address
	Unreachable   rule.Reason = "unreachable"        // no judged address took the connection
	UpstreamError rule.Reason = "upstream-proxy"     // the upstream proxy refused or failed
	DeniedSNI     rule.Reason = "denied-server-name" // TLS for another server name than the judged one
	BadHello      rule.Reason = "bad-client-hello"   // TLS that does not begin with one clear ClientHello
	HiddenName    rule.Reason = "hidden-server-name" // TLS with encrypted ClientHello
	Overloaded    rule.Reason = "too-many-names"     // the table is full
	Interrupted   rule.Reason = "connection-reset"   // allowed, and ended by an error of either side
	Stopped       rule.Reason = "ended-with-run"     // still under way when the gateway was stopped
)

// Event is one connection, or one refused name.
type Event struct {
	Time     time.Time     `json:"time"` // when it was asked for
	Door     Door          `json:"door"`
	Name     string        `json:"name"` // A-labels or an address; as it was asked for where it is no host
	Port     uint16        `json:"port,omitempty"`
	Address  string        `json:"address,omitempty"` // that was dialled
	Via      string        `json:"via,omitempty"`     // the upstream proxy
	Sent     int64         `json:"sent"`              // bytes from the client to the server
	Received int64         `json:"received"`
	Duration time.Duration `json:"duration_ns"`
	Allowed  bool          `json:"allowed"`
	Rule     string        `json:"rule,omitempty"`   // the pattern that decided
	Reason   rule.Reason   `json:"reason,omitempty"` // of a refusal, a failure or an unclean end
	Detail   string        `json:"detail,omitempty"` // the reason in words
	Remedy   string        `json:"remedy,omitempty"` // the smallest pattern, or [rule.Endpoint], that would allow it
}

// Sink takes events. Record is called concurrently, at the end of a
// connection, and should not block.
type Sink interface {
	Record(Event)
}

// SinkFunc makes a function a Sink.
type SinkFunc func(Event)

// Record calls f.
func (f SinkFunc) Record(e Event) { f(e) }

// Refusals is a Sink that keeps, for each name that rules refused, the pattern
// that would allow it, in the order of their first refusal. It is bounded.
type Refusals struct {
	mu      sync.Mutex
	seen    map[string]int
	remedy  []Refused
	dropped int
}

// Refused is a destination that rules refused.
type Refused struct {
	Name   string
	Port   uint16 // 0 where only the name was asked for
	Reason rule.Reason
	Remedy string // "" where a deny pattern stands against it
}

const maxRefusals = 1000

// Record keeps a refusal by rules and passes over everything else.
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
		r.remedy[i] = refused // the port is known now
	case known:
	case len(r.remedy) == maxRefusals:
		r.dropped++
	default:
		r.seen[e.Name] = len(r.remedy)
		r.remedy = append(r.remedy, refused)
	}
}

// List returns the refused names, and how many more there were.
func (r *Refusals) List() (refused []Refused, more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Refused(nil), r.remedy...), r.dropped
}
