package egress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ethos/pkg/egress/hello"
	"ethos/pkg/egress/rule"
)

// Refusal is the error for a destination that the gateway did not connect to.
type Refusal struct {
	Verdict rule.Verdict
	Err     error // the underlying error, if there is one besides the rules
}

func (r *Refusal) Error() string {
	if r.Err != nil {
		return fmt.Sprintf("%s: %v", r.Verdict.Reason, r.Err)
	}
	return fmt.Sprintf("%s: %s", r.Verdict.Reason, r.Verdict)
}

func (r *Refusal) Unwrap() error { return r.Err }

func refuse(reason rule.Reason, err error) *Refusal {
	return &Refusal{Verdict: rule.Verdict{Reason: reason}, Err: err}
}

// attempt is one destination that a client asked for; see [Gateway.try].
type attempt struct {
	gateway *Gateway
	host    rule.Host
	event   Event
	leave   func() // gives a place back
}

// try runs an attempt to reach a destination and writes its event when run has
// returned, so that no attempt goes without one, or keeps a place. An error of
// run refuses the destination.
func (g *Gateway) try(door Door, host rule.Host, port uint16, run func(a *attempt) error) (Event, error) {
	g.names.noteConnected(host)
	a := &attempt{gateway: g, host: host, event: Event{Time: time.Now(), Door: door, Name: host.String(), Port: port}, leave: func() {}}
	err := run(a)
	a.leave()
	if err != nil {
		a.refuse(err)
	}
	a.event.Duration = time.Since(a.event.Time)
	g.config.Sink.Record(a.event)
	return a.event, err
}

// refuse turns the attempt into a refused one.
func (a *attempt) refuse(err error) {
	a.note(err)
	a.event.Allowed = false
}

// stillOpen is the detail text of [Stopped].
const stillOpen = "it was under way when the run ended"

// note records the refusal for the event.
func (a *attempt) note(err error) {
	var r *Refusal
	switch {
	case errors.Is(err, context.Canceled): // only stopping the gateway cancels
		r = refuse(Stopped, errors.New(stillOpen))
	case errors.Is(err, hello.ErrEarly):
		r = refuse(Interrupted, err)
	case !errors.As(err, &r):
		r = refuse(Unreachable, err)
	}
	a.event.Reason, a.event.Remedy = r.Verdict.Reason, r.Verdict.Remedy
	if r.Verdict.Rule != "" {
		a.event.Rule = r.Verdict.Rule
	}
	if a.event.Detail = r.Verdict.String(); r.Err != nil {
		a.event.Detail = r.Err.Error()
	}
}
