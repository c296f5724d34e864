package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"ethos/pkg/egress/rule"
)

// resolutions looks up the addresses of names outside. It caches an answer for
// long enough to serve the connection that follows a query, and a failure for a
// shorter time.
type resolutions struct {
	resolver Resolver
	timeout  time.Duration
	kept     time.Duration   // lifetime of an answer
	slots    chan struct{}   // one per name being resolved
	note     func(rule.Host) // called for each look-up outside

	mu    sync.Mutex
	known map[string]*resolution
}

type resolution struct {
	done  chan struct{}
	addrs []netip.Addr
	err   error
	until time.Time // set before done is closed
}

const (
	keptAnswer  = 5 * time.Second
	keptFailure = time.Second
	maxKept     = 1000 // names; beyond it all finished entries are dropped
	maxAsked    = 64   // names at one time, with two sockets each; more wait
)

// lookup returns the addresses of a name. Concurrent lookups of one name share
// one query.
func (r *resolutions) lookup(ctx context.Context, h rule.Host) ([]netip.Addr, error) {
	if h.IsLocal() {
		return loopback, nil
	}
	e := r.entry(h)
	select {
	case <-e.done:
		return e.addrs, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *resolutions) entry(h rule.Host) *resolution {
	name := h.Name()
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.known[name]; ok && !e.over() {
		return e
	}
	if len(r.known) >= maxKept {
		for other, e := range r.known {
			if e.ended() {
				delete(r.known, other)
			}
		}
	}
	e := &resolution{done: make(chan struct{})}
	r.known[name] = e
	r.note(h)
	go r.ask(name, e)
	return e
}

func (e *resolution) ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (e *resolution) over() bool { return e.ended() && time.Now().After(e.until) }

// ask resolves a name. A name with a dot is looked up as it is, without the
// host's search domains.
func (r *resolutions) ask(name string, e *resolution) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	defer close(e.done)
	if strings.Contains(name, ".") {
		name += "."
	}
	select {
	case r.slots <- struct{}{}:
		e.addrs, e.err = r.resolver.LookupNetIP(ctx, "ip", name)
		<-r.slots
	case <-ctx.Done():
		e.err = ctx.Err()
	}
	if e.err == nil && len(e.addrs) == 0 {
		e.err = errors.New("the name has no address")
	}
	if len(e.addrs) > maxAddresses {
		e.addrs = e.addrs[:maxAddresses]
	}
	e.until = time.Now().Add(r.kept)
	if e.err != nil {
		e.until = time.Now().Add(keptFailure)
	}
}

// judged returns the addresses of a host that judge allows. If none is left, it
// returns the first refusal as the error.
func judged(h rule.Host, found []netip.Addr, judge func(netip.Addr) rule.Verdict) ([]netip.Addr, error) {
	var good []netip.Addr
	var refusal error
	for _, addr := range found {
		addr = addr.Unmap()
		switch v := judge(addr); {
		case v.Allowed:
			good = append(good, addr.WithZone(""))
		case refusal == nil:
			refusal = &Refusal{Verdict: v, Err: fmt.Errorf("%s resolves to %s: %s", h, addr, v)}
		}
	}
	if len(good) > 0 {
		return good, nil
	}
	return nil, refusal
}
