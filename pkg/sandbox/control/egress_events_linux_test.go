//go:build !noegress

package control

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ethos/pkg/egress"
	"ethos/pkg/egress/rule"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/plan"
)

// TestEgressEventsAreBounded: a command that asks for very many names, and for
// very long ones, gets a bounded place in the evidence, and what has none is
// counted. What is asked for again is told once.
func TestEgressEventsAreBounded(t *testing.T) {
	told := 0
	c := &egressControl{}
	events := &c.events
	events.told = func(record.Denial) { told++ }
	const names, times = 5000, 2
	for n := range names * times {
		events.Record(egress.Event{
			Time: time.Now(), Door: egress.DoorConnect, Name: fmt.Sprint(n%names, strings.Repeat("x", 8000)), Port: 443,
			Reason: rule.NotAllowed, Detail: strings.Repeat("d", 8000), Remedy: strings.Repeat("r", 8000),
		})
	}
	evidence := record.Sandbox{}
	c.Evidence(&evidence, true)
	if len(evidence.Connections) != maxConnections/2+maxRefused || len(evidence.Connections)+evidence.ConnectionsMore != names*times {
		t.Errorf("%d connections and %d more", len(evidence.Connections), evidence.ConnectionsMore)
	}
	if told != maxRefused || len(evidence.Denials) != maxRefused+1 {
		t.Errorf("%d denials, %d told", len(evidence.Denials), told)
	}
	if last := evidence.Denials[maxRefused]; last.What != fmt.Sprint((names-maxRefused)*times, " more refusals") {
		t.Errorf("the rest is %+v", last)
	}
	size := 0
	for _, c := range evidence.Connections {
		size += len(c.Name) + len(c.Detail) + len(c.Remedy)
	}
	if size > maxConnections*1000 {
		t.Errorf("%d bytes of names", size)
	}
}

// TestEgressEventsOnce: of one destination there is one denial, of each way it
// was asked for one connection; what was allowed or failed is no denial.
func TestEgressEventsOnce(t *testing.T) {
	events := egressEvents{}
	refused := egress.Event{Door: egress.DoorTransparent, Name: "a.example", Port: 443, Reason: rule.NotAllowed, Detail: "not in the allow-list", Remedy: "a.example:443"}
	other := refused
	other.Port, other.Remedy = 80, "a.example:80"
	for _, e := range []egress.Event{
		refused, refused, other, {Name: "b.example", Port: 443, Allowed: true}, {Name: "c.example", Port: 443, Reason: egress.Unresolved},
	} {
		events.Record(e)
	}
	if len(events.list) != 5 || len(events.denied()) != 2 {
		t.Errorf("%d connections, denials %+v", len(events.list), events.denied())
	}
}

// TestEgressEventsAreNotCrowdedOut: a command that has very many names refused
// hides by that no connection that it makes afterwards.
func TestEgressEventsAreNotCrowdedOut(t *testing.T) {
	c := &egressControl{}
	for n := range 5000 {
		c.events.Record(egress.Event{Time: time.Now(), Door: egress.DoorDNS, Name: fmt.Sprint("x", n), Reason: rule.NotAllowed})
	}
	c.events.Record(egress.Event{Time: time.Now(), Door: egress.DoorTransparent, Name: "example.com", Port: 443, Allowed: true, Sent: 1 << 30})
	evidence := record.Sandbox{}
	c.Evidence(&evidence, true)
	if last := evidence.Connections[len(evidence.Connections)-1]; !last.Allowed || last.Name != "example.com" {
		t.Errorf("the last connection of %d is %+v", len(evidence.Connections), last)
	}
}

// TestEgressFirstRefusals: whatever filled the list before, the first refusal of
// a destination is in it, and the list has its bound.
func TestEgressFirstRefusals(t *testing.T) {
	reached := egress.Event{Door: egress.DoorTransparent, Name: "example.com", Port: 443, Allowed: true}
	again := egress.Event{Door: egress.DoorConnect, Name: "again.example", Port: 443, Reason: rule.NotAllowed}
	for name, flood := range map[string][]egress.Event{"reached": {reached}, "refused": {again}, "both": {reached, again}, "refused first": {again, reached}} {
		c := &egressControl{}
		for range 5000 {
			for _, e := range flood {
				c.events.Record(e)
			}
		}
		for n := range 2 * maxRefused {
			c.events.Record(egress.Event{Door: egress.DoorDNS, Name: fmt.Sprintf("n%d.example", n), Reason: rule.NotAllowed, Detail: "first"})
			c.events.Record(egress.Event{Door: egress.DoorDNS, Name: fmt.Sprintf("n%d.example", n), Reason: rule.NotAllowed, Detail: "second"})
		}
		evidence := record.Sandbox{}
		c.Evidence(&evidence, true)
		if n := len(evidence.Connections); n > maxConnections || n+evidence.ConnectionsMore != 5000*len(flood)+4*maxRefused {
			t.Errorf("%s: %d connections and %d more", name, n, evidence.ConnectionsMore)
		}
		listed := map[record.Denial]bool{}
		for _, c := range evidence.Connections {
			if c.Refused() {
				listed[c.Denial()] = true
			}
		}
		for _, d := range evidence.Denials[:maxRefused] {
			if !listed[d] {
				t.Errorf("%s: no connection is %+v", name, d)
			}
		}
	}
}

// TestEgressLeavesDescriptors: whatever the command opens, the supervisor can
// still open what it needs to hold its guarantees.
func TestEgressLeavesDescriptors(t *testing.T) {
	for _, published := range [][]plan.Published{nil, {{}}} {
		for _, soft := range []uint64{2048, 4096, 20000, 1 << 20, math.MaxUint64} {
			c := &egressControl{Job: &Job{
				Plan:    &plan.Plan{Publish: published},
				machine: &machine{limit: func(limits.Resource) limits.Limit { return limits.Limit{Soft: soft, Hard: soft} }},
			}}
			conns := c.maxConns()
			rest := 640
			if published != nil {
				rest += 8 * publishedConns // as in publish_linux.go
			}
			if uint64(6*conns+rest) > soft || conns < 100 {
				t.Errorf("%d connections of %d descriptors", conns, soft)
			}
		}
	}
}
