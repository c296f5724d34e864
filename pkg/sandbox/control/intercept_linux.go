//go:build !noegress

package control

import (
	"crypto/tls"
	"fmt"
	"time"

	"ethos/pkg/egress"
	"ethos/pkg/egress/leaf"
	"ethos/pkg/egress/rule"
	"ethos/pkg/sandbox/plan"
)

// intercept reads what opened requests need and the plan does not contain: the key of the
// authority and, from the caller's environment, the secrets. It returns nil if nothing is
// opened.
func intercept(p *plan.Plan) (*egress.Intercept, error) {
	o := p.Egress.Open
	if o == nil || len(o.Requests)+len(o.Inject) == 0 {
		return nil, nil
	}
	declaration := func(hint string, err error) error {
		return &plan.Refusal{Code: plan.CodeDeclaration, Err: err, Hint: hint}
	}
	out := &egress.Intercept{}
	if o.CABundle != "" {
		authority, err := authorityOf(o.CABundle)
		if err != nil {
			return nil, declaration("the file needs the certificate of an authority and its key, both in PEM", fmt.Errorf("authority %s: %w", o.CABundle, err))
		}
		out.Authority = authority
	}
	var err error
	if out.Endpoints, err = rule.ParseEndpoints(o.Requests); err != nil {
		return nil, declaration("", err)
	}
	if out.Authority == nil { // the plan has denied their hosts
		out.Endpoints = nil
	}
	for _, j := range o.Inject {
		host, err := rule.ParseHost(j.Host)
		if err != nil {
			return nil, declaration("", err)
		}
		out.Injections = append(out.Injections, egress.Injection{Host: host, Header: j.Header, Sentinel: j.Sentinel, Secret: p.Getenv(j.Env), Plain: j.Plain})
	}
	if out.Authority == nil && len(out.Injections) == 0 {
		return nil, nil
	}
	return out, nil
}

func authorityOf(file string) (*leaf.Authority, error) {
	pair, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		return nil, err
	}
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return nil, fmt.Errorf("its certificate expired on %s", end.Format(time.DateOnly))
	}
	return leaf.New(pair)
}

// sniMode returns how TLS connections that are not opened are treated.
func sniMode(e *plan.Egress) egress.SNIMode {
	if e.SNI == "allow" {
		return egress.SNIAllow
	}
	return egress.SNIRequire
}
