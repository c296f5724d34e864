package mutants

const (
	egressFile  = "pkg/sandbox/control/egress_linux.go"
	eventsFile  = "pkg/sandbox/control/egressevents_linux.go"
	publishFile = "pkg/sandbox/control/publish_linux.go"
	askedPorts  = "pkg/sandbox/plan/publish.go"
	verdicts    = "pkg/egress/rule/rules.go"
	patterns    = "pkg/egress/rule/pattern.go"
	hosts       = "pkg/egress/rule/host.go"
	special     = "pkg/egress/rule/special.go"
	setFile     = "pkg/egress/rule/set.go"
	tunnel      = "pkg/egress/tunnel.go"
	endpoints   = "pkg/egress/rule/endpoint.go"
)

var (
	verified  = []Tests{{Package: "./pkg/sandbox", Run: "^TestVerifyEgress$"}}
	byName    = []Tests{{Package: "./pkg/sandbox", Run: "^(TestEgress|TestEgressPorts)$"}}
	published = []Tests{{Package: "./pkg/sandbox", Run: "^(TestPublish|TestPublishRefused)$"}}
	events    = []Tests{{Package: "./pkg/sandbox/control", Run: "^TestEgress"}}
	judging   = []Tests{{Package: "./pkg/egress/rule"}}
	requests  = []Tests{{Package: "./pkg/egress", Run: "^(TestTargetWithoutPath|TestTraceUpstream|TestInterceptedAtAddress)$"}}
	gateway   = []Tests{{Package: "./pkg/egress", Run: "^(TestServerName|TestSecondHello|TestHostileHellos|TestDeafAddresses|TestRebinding|TestNeverHandedOut|TestTransparentRefusals)$"}}
)

// egress lists the defences concerning reachable names and published ports.
var egress = []Mutant{
	{Name: "egress: a network that is not local", Edits: []Edit{{egressFile, `if !slices.Contains(local, n) && (n.Addr().Is4() || c.six) {`, `if false {`}}, Tests: verified},
	{Name: "egress: a socket that is missing", Edits: []Edit{{egressFile, "\tif d.fd == 0 {\n\t\tif d.At", "\tif d.fd == 0 {\n\t\treturn nil\n\t\tif d.At"}}, Tests: verified},
	{Name: "egress: a socket at another place", Edits: []Edit{{egressFile, `if at != d.At && !(`, `if false && !(`}}, Tests: verified},
	{Name: "egress: routes", Without: []Call{{Stage: "egress", Object: "route 198.18.0.0/15"}}, Tests: byName},
	{Name: "egress: descriptors for the rest", Edits: []Edit{{egressFile, `return int(max(16, min(enough, spare/perConn)))`, `return int(max(enough, spare*0))`}}, Tests: events},
	{Name: "egress: no proposal of credentials", Edits: []Edit{{verdicts, `if class == Metadata {`, `if false {`}}, Tests: judging},
	{Name: "egress: a bound of the evidence", Edits: []Edit{{eventsFile, `if *kept >= room {`, `if false {`}}, Tests: events},
	{Name: "egress: a bound of refusals", Edits: []Edit{{eventsFile, `case len(s.denials) == maxRefused:`, `case false:`}}, Tests: events},
	{Name: "egress: room for what was reached", Edits: []Edit{{eventsFile, "\t\ts.keep(c, &s.refused, min(maxConnections/2, maxOthers-s.reached))\n\tcase len", "\t\ts.keep(c, &s.refused, maxOthers-s.reached)\n\tcase len"}}, Tests: events},
	{Name: "egress: room for the first refusal", Edits: []Edit{{eventsFile, `s.keep(c, &s.reached, maxOthers-s.refused)`, `s.keep(c, &s.reached, maxConnections)`}}, Tests: events},
	{Name: "egress: the caller's proxy is not the command's", Edits: []Edit{{"pkg/sandbox/plan/egress.go", "\t\tdelete(values, name)\n", ""}}, Tests: byName},
	{Name: "publish: a socket that is missing", Edits: []Edit{{publishFile, `if len(c.four) != publishedConns || `, `if false && len(c.four) != publishedConns || `}}, Tests: verified},
	{Name: "publish: sockets are made new", Edits: []Edit{{publishFile, "\tdefer disconnect(sockets)\n", ""}}, Tests: published},
	{Name: "publish: to this machine alone", Edits: []Edit{{askedPorts, `case !published.Host.Addr().IsLoopback() && !anywhere:`, `case false:`}}, Tests: published},
	{Name: "publish: no port of the supervisor's", Edits: []Edit{{askedPorts, `case p.takes(published.Port):`, `case false:`}}, Tests: published},
	{Name: "publish: none of the host's network", Edits: []Edit{{askedPorts, `case !p.Publishes():`, `case false:`}}, Tests: published},
	{Name: "rules: deny wins", Edits: []Edit{{verdicts, "\tif p, ok := r.denies(h, port); ok {", "\tif p, ok := r.denies(h, port); ok && false {"}}, Tests: judging},
	{Name: "rules: deny wins for a name alone", Edits: []Edit{{verdicts, `if p.port == 0 && p.names(h) {`, `if false {`}}, Tests: judging},
	{Name: "rules: deny wins for an address", Edits: []Edit{{verdicts, "\tif p, ok := r.denies(at, port); ok {", "\tif p, ok := r.denies(at, port); ok && false {"}}, Tests: judging},
	{Name: "rules: an address of an allowed name is judged", Edits: []Edit{{verdicts, `if class == "" || h.IsLocal() && class == "loopback" {`, `if true {`}}, Tests: judging},
	{Name: "rules: the loopback for its own names alone", Edits: []Edit{{verdicts, `h.IsLocal() && class == "loopback"`, `class == "loopback"`}}, Tests: judging},
	{Name: "rules: the port", Edits: []Edit{{verdicts, `return p.port == 0 || p.port == port`, `return true`}}, Tests: judging},
	{Name: "rules: the ports of a pattern without one", Edits: []Edit{{verdicts, `return slices.Contains(r.Ports, port)`, `return true`}}, Tests: judging},
	{Name: "rules: a special address by its own block", Edits: []Edit{{patterns, `return inside && p.scope() == scopeOf(at)`, "_ = at\n\t\treturn inside"}}, Tests: judging},
	{Name: "rules: localhost by its own name", Edits: []Edit{{patterns, `return p.names(h) && (!h.IsLocal() || local(p.name))`, `return p.names(h)`}}, Tests: judging},
	{Name: "rules: a denied address in another form", Edits: []Edit{{patterns, `return ok && p.prefix.Contains(inner.Addr())`, `return ok && false && p.prefix.Contains(inner.Addr())`}}, Tests: judging},
	{Name: "rules: an address in another form", Edits: []Edit{{special, `if via, inner, ok := embedded(p); ok {`, `if via, inner, ok := embedded(p); ok && false {`}}, Tests: judging},
	{Name: "rules: IPv4 in IPv6", Edits: []Edit{{hosts, `return Host{addr: addr.Unmap().WithZone("")}`, `return Host{addr: addr.WithZone("")}`}}, Tests: judging},
	{Name: "rules: a name that ends in a number is an address", Edits: []Edit{{hosts, `if endsInNumber(name) {`, `if false {`}}, Tests: judging},
	{Name: "rules: what is no name", Edits: []Edit{{hosts, `if reason := badName(name); reason != "" {`, `if reason := badName(name); false {`}}, Tests: judging},
	{Name: "rules: what a pattern covers", Edits: []Edit{{setFile, `encloses(p.prefix, q.prefix) && p.scope() == q.scope()`, `encloses(p.prefix, q.prefix)`}}, Tests: judging},
	{Name: "TLS: the server name", Edits: []Edit{{tunnel, `if err == nil && name == t.host {`, `if err == nil {`}}, Tests: gateway},
	{Name: "TLS: a hidden name", Edits: []Edit{{tunnel, `case first.ECH:`, `case false:`}}, Tests: gateway},
	{Name: "TLS: no name", Edits: []Edit{{tunnel, `if text == "" && t.host.Addr().IsValid() {`, `if text == "" {`}}, Tests: gateway},
	{Name: "TLS: the second hello", Edits: []Edit{{tunnel, `if !t.retry.IsRetry() {`, `if true {`}}, Tests: gateway},
	{Name: "TLS: another name at an allowed address", Edits: []Edit{{tunnel, `if v.Allowed && !t.gateway.config.Intercept.opens(name, t.event.Port) {`, `if v.Allowed {`}}, Tests: requests},
	{Name: "requests: a target without a path", Edits: []Edit{{"pkg/egress/http2.go", `if r.URL.Opaque != "" {`, `if false {`}}, Tests: requests},
	{Name: "requests: TRACE through a proxy with a password", Edits: []Edit{{"pkg/egress/forward.go", `if e.via != nil && e.via.User != nil && echoes(r.Method) {`, `if false {`}}, Tests: requests},
	{Name: "requests: TRACE in any case", Edits: []Edit{{"pkg/egress/intercept.go", `strings.EqualFold(method, http.MethodTrace) ||`, `method == http.MethodTrace ||`}}, Tests: requests},
	{Name: "rules: escapes of special characters", Edits: []Edit{{endpoints, `"%2e", "%2f", "%5c", "%25", "%3b", `, ``}}, Tests: judging},
	{Name: "rules: escapes of control characters", Edits: []Edit{{endpoints, `"%0", "%1", "%7f", `, ``}}, Tests: judging},
	{Name: "rules: overlong escapes", Edits: []Edit{{endpoints, `, "%c0", "%c1", "%e0%8", "%f0%8"`, ``}}, Tests: judging},
	{Name: "names: each address is judged", Edits: []Edit{{"pkg/egress/resolve.go", `case v.Allowed:`, `case true:`}}, Tests: gateway},
	{Name: "names: addresses that are tried at once", Edits: []Edit{{"pkg/egress/dial.go", `if running > 0 {`, `if false {`}}, Tests: gateway},
}
