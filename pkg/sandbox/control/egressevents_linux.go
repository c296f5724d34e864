//go:build !noegress

package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ethos/pkg/egress"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// egressEvents records what became of connections and names.
type egressEvents struct {
	told func(record.Denial) // called for a destination at its first refusal; may be nil

	mu      sync.Mutex
	err     error
	list    []record.Connection
	reached int // entries of the list that were not refused
	refused int // entries of the list that are repeated refusals of a destination
	more    int
	denials []record.Denial
	beyond  int // refusals for which denials has no room
}

// Bounds of what is kept of one run. The first refusal of each of maxRefused destinations
// is always kept, and other events until the list has maxConnections entries. Repeated
// refusals take at most half of the list, because a command can cause any number of them at
// once and could otherwise crowd out the connections that it made.
const (
	maxConnections = 1000
	maxRefused     = 100
	maxOthers      = maxConnections - maxRefused
)

// Record implements [egress.Sink].
func (s *egressEvents) Record(e egress.Event) {
	c := record.Connection{
		Time: e.Time.UTC().Format(time.RFC3339Nano), Door: string(e.Door), Name: e.Name, Port: int(e.Port), Address: e.Address, Via: e.Via,
		Sent: e.Sent, Received: e.Received, DurationMS: float64(e.Duration.Microseconds()) / 1000,
		Allowed: e.Allowed, Rule: e.Rule, Reason: string(e.Reason), Detail: e.Detail, Remedy: e.Remedy,
	}
	c.Cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.Refused() {
		s.keep(c, &s.reached, maxOthers-s.refused)
		return
	}
	switch d := c.Denial(); {
	case slices.Contains(s.denials, d):
		s.keep(c, &s.refused, min(maxConnections/2, maxOthers-s.reached))
	case len(s.denials) == maxRefused:
		s.beyond++
		s.keep(c, &s.refused, min(maxConnections/2, maxOthers-s.reached))
	default:
		s.list = append(s.list, c)
		s.denials = append(s.denials, d)
		if s.told != nil {
			s.told(d)
		}
	}
}

// keep appends to the list if there is room for this kind of event.
func (s *egressEvents) keep(c record.Connection, kept *int, room int) {
	if *kept >= room {
		s.more++
		return
	}
	*kept++
	s.list = append(s.list, c)
}

// denied returns the refused destinations, followed by the number of refusals of others.
func (s *egressEvents) denied() []record.Denial {
	if s.beyond == 0 {
		return s.denials
	}
	rest := record.Denial{Layer: record.LayerNetwork, What: fmt.Sprint(s.beyond, " more refusals"), Reason: "of destinations that are not listed here"}
	return append(slices.Clip(s.denials), rest)
}

func (s *egressEvents) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

func (s *egressEvents) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// maxUnconnected bounds the reported names that were only looked up.
const maxUnconnected = 5

// unconnected returns the allowed names that the command looked up but never reached, if
// the command failed and the kernel refused connections inside. Where nothing listens,
// nothing else can tell which port was meant.
func (c *egressControl) unconnected() (list []record.Denial) {
	if c.gateway == nil || c.Met.Refused == 0 {
		return nil
	}
	rules, err := c.Job.Plan.Rules()
	if err != nil {
		return nil
	}
	for _, h := range c.gateway.Unconnected() {
		if len(list) == maxUnconnected {
			break
		}
		list = append(list, record.Denial{
			Layer: record.LayerNetwork, What: h.String(),
			Reason: fmt.Sprintf("looked up but not connected to at its %s; the kernel refused the command %s inside", portList(rules.PortsOf(h)), connections(c.Met.Refused)),
			Remedy: "--allow-domain " + printable.Word(h.String()+":PORT"),
		})
	}
	return list
}

func portList(ports []uint16) string {
	const most = 8
	var texts []string
	for _, port := range ports {
		texts = append(texts, fmt.Sprint(port))
	}
	if len(texts) > most {
		texts = append(texts[:most], "…")
	}
	if len(texts) == 1 {
		return "port " + texts[0]
	}
	return "ports " + strings.Join(texts, ", ")
}

func connections(n int64) string {
	if n == 1 {
		return "one connection"
	}
	return fmt.Sprintf("%d connections", n)
}
