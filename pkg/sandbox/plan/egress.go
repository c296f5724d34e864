package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/egress/pool"
	egressrule "ethos/pkg/egress/rule"
	"ethos/pkg/lazy"
	"ethos/pkg/printable"
	"ethos/pkg/sandbox/kernel/mount"
)

// Egress is what the network namespace needs so that the allowed names, and nothing else,
// can be reached. See package egress.
type Egress struct {
	// Routes are the networks whose addresses are all local inside.
	Routes []netip.Prefix `json:"routes"`
	// Listen are the addresses that accept connections. On an unspecified address, the
	// command's own servers cannot use the port; the command cannot bind a port below 1024
	// in any case.
	Listen []netip.AddrPort `json:"listen"`
	// Names are assigned the first addresses of the table, in this order, so that the
	// command's servers keep their ports.
	Names  []string `json:"names"`
	Search []string `json:"search"` // domains of the host's resolv.conf(5)
	// SNI is "allow" if a TLS client need not name the host that was judged; see package
	// egress.
	SNI string `json:"sni,omitempty"`
	// Open describes the requests that are opened; nil if there are none.
	Open *Open `json:"open,omitempty"`
}

// NameServer and Proxy are the addresses of the name server and the explicit proxy. A
// confined command cannot bind a port below 1024. RFC 4727 reserves port 1021 for
// experiments.
func NameServer() netip.AddrPort { return loopback(53) }
func Proxy() netip.AddrPort      { return loopback(1021) }

func loopback(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
}

// PortHint says which ports a remedy stands for that names a host without a port, and how
// to allow another. It returns "" for every other text.
func PortHint(remedy string) string {
	text, ok := strings.CutPrefix(remedy, "--allow-domain ")
	host := strings.Trim(text, "'")
	p, err := egressrule.ParsePattern(host)
	if !ok || err != nil || p.Port() != 0 {
		return ""
	}
	if p.Prefix().IsValid() && p.Prefix().Addr().Is6() {
		host = "[" + host + "]"
	}
	return fmt.Sprintf(", for ports %d and %d; for another port: --allow-domain %s", capability.WebPorts[0], capability.WebPorts[1], printable.Word(host+":PORT"))
}

// toldPorts always have a listener, so that a refused connection is reported together with
// what would allow it: an allowed name may also be contacted by ssh. On other ports nothing
// listens and nothing is reported.
var toldPorts = []uint16{22, 80, 443}

// privilegedPorts is the first unprivileged port: ip_unprivileged_port_start in ip(7).
const privilegedPorts = 1024

// maxListeners bounds the descriptors that the supervisor uses for listeners.
const maxListeners = 250

// Rules returns the plan's lists of names and addresses, parsed.
func (p *Plan) Rules() (egressrule.Rules, error) {
	allow, err := egressrule.ParseSet(p.AllowDomains)
	if err != nil {
		return egressrule.Rules{}, fmt.Errorf("allowed domain: %w", err)
	}
	deny, err := egressrule.ParseSet(p.DenyDomains)
	if err != nil {
		return egressrule.Rules{}, fmt.Errorf("denied domain: %w", err)
	}
	return egressrule.Rules{Allow: allow, Deny: deny, Ports: capability.WebPorts}, nil
}

// Table returns an address table in which the names of the plan have their addresses. six
// says whether it includes IPv6.
func (e *Egress) Table(six bool) (*pool.Table, error) {
	v6 := pool.DefaultIPv6()
	if !six {
		v6 = netip.Prefix{}
	}
	table, err := pool.New(pool.DefaultIPv4(), v6)
	if err != nil {
		return nil, err
	}
	for _, name := range e.Names {
		table.Assign(name)
	}
	return table, nil
}

// egress prepares the plan for the network "proxy".
func (b *builder) egress(p *Plan) error {
	if p.Network != "proxy" {
		return nil
	}
	rules, err := p.Rules()
	if err != nil {
		return Refuse(CodeDeclaration, "write a host name, *.name, an address or a network, each with an optional :PORT", "%w", err)
	}
	if len(rules.Allow) == 0 {
		b.note("network", "no domain is allowed, so none can be reached: allow some with --allow-domain")
	}
	p.Egress = &Egress{Routes: []netip.Prefix{pool.DefaultIPv4(), pool.DefaultIPv6()}, Names: []string{}, Listen: []netip.AddrPort{}, Search: b.search, Open: b.open}
	switch b.set.Network.SNI {
	case "", "require":
	case "allow":
		p.Egress.SNI = b.set.Network.SNI
	default:
		return Refuse(CodeDeclaration, "use require or allow", "unknown sni %q", b.set.Network.SNI)
	}
	table, err := p.Egress.Table(true)
	if err != nil {
		return err
	}
	for _, pattern := range rules.Allow {
		p.Egress.route(pattern)
		if pattern.Port() != 0 {
			b.listen(p.Egress, table, pattern, pattern.Port())
			continue
		}
		for _, port := range capability.WebPorts {
			b.listen(p.Egress, table, pattern, port)
		}
	}
	for _, port := range toldPorts {
		p.Egress.Listen = append(p.Egress.Listen, netip.AddrPortFrom(netip.IPv6Unspecified(), port))
	}
	p.Egress.Listen = withoutCovered(p.Egress.Listen)
	if len(p.Egress.Listen) > maxListeners {
		return Refuse(CodeDeclaration, "allow all ports of a name below 1024 with one pattern, or list fewer ports",
			"the allowed domains need %d listeners inside, and the limit is %d", len(p.Egress.Listen), maxListeners)
	}
	return nil
}

// route makes the addresses of a pattern local, except those that already are.
func (e *Egress) route(p egressrule.Pattern) {
	networks := []netip.Prefix{p.Prefix()}
	if p.String() == "*" || strings.HasPrefix(p.String(), "*:") {
		networks = []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	for _, n := range networks {
		if n.IsValid() && !n.Addr().IsLoopback() && !slices.Contains(e.Routes, n) {
			e.Routes = append(e.Routes, n)
		}
	}
}

// listen adds listeners for one port of the hosts of a pattern.
func (b *builder) listen(e *Egress, table *pool.Table, p egressrule.Pattern, port uint16) {
	add := func(addrs ...netip.Addr) {
		for _, addr := range addrs {
			e.Listen = append(e.Listen, netip.AddrPortFrom(addr, port))
		}
	}
	host, err := egressrule.ParseHost(p.Host())
	switch {
	case err == nil && host.IsLocal():
		add(netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	case port < privilegedPorts:
		add(netip.IPv6Unspecified())
	case err == nil && host.Addr().IsValid():
		add(host.Addr())
	case err == nil:
		if !slices.Contains(e.Names, host.Name()) {
			e.Names = append(e.Names, host.Name())
		}
		v4, v6, _ := table.Assign(host.Name())
		add(v4, v6)
	default:
		add(netip.IPv6Unspecified())
		b.note("network", "the command cannot listen on port %d: %s stands for more than one address", port, p)
	}
}

// withoutCovered removes the listeners whose port also has a listener on every address, and
// sorts the rest.
func withoutCovered(list []netip.AddrPort) []netip.AddrPort {
	every := map[uint16]bool{}
	for _, at := range list {
		if at.Addr().IsUnspecified() {
			every[at.Port()] = true
		}
	}
	list = slices.DeleteFunc(list, func(at netip.AddrPort) bool { return every[at.Port()] && !at.Addr().IsUnspecified() })
	slices.SortFunc(list, netip.AddrPort.Compare)
	return slices.Compact(list)
}

// resolvConf is the host's resolv.conf(5).
const resolvConf = "/etc/resolv.conf"

// searchDomains returns the search domains of the host.
func (b *builder) searchDomains() []string {
	domains := []string{}
	p, err := b.files.resolve(resolvConf)
	if err != nil || !p.exists {
		return domains
	}
	text, err := b.files.files.ReadResolved(p.path)
	if err != nil {
		return domains
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "search" && fields[0] != "domain" {
			continue
		}
		domains = []string{} // the last line wins
		for _, domain := range fields[1:] {
			if h, err := egressrule.ParseHost(strings.TrimSuffix(domain, ".")); err == nil && h.Name() != "" {
				domains = append(domains, h.Name())
			}
		}
	}
	return domains
}

// resolverFiles returns the mounts of the files that tell programs which name server to
// ask. A program whose file is missing asks 127.0.0.1 as well.
func (b *builder) resolverFiles(entries []Entry) (list []mount.Mount) {
	if b.set.Network.Mode != "proxy" {
		return b.hostsFile(entries)
	}
	conf := "nameserver " + NameServer().Addr().String() + "\noptions timeout:2 attempts:2\n"
	if b.search = b.searchDomains(); len(b.search) > 0 {
		conf += "search " + strings.Join(b.search, " ") + "\n"
	}
	hosts := "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost ip6-localhost ip6-loopback\n"
	for _, f := range []struct{ path, text string }{{resolvConf, conf}, {"/etc/hosts", hosts}} {
		p, err := b.files.resolve(f.path)
		if err != nil || p.dir {
			b.note(f.path, "the host's stays visible: there is no file that can be replaced")
			continue
		}
		if access := Covering(entries, p.path).Access; !p.exists && (access == ReadOnly || access == ReadWrite) {
			continue
		}
		list = append(list, mount.Mount{Kind: mount.Text, Target: filepath.Clean(p.path), File: true, Text: f.text, Why: "names by " + NameServer().String()})
	}
	return list
}

// hostsFile returns a mount of the host's hosts(5) with the host name inside added.
// 127.0.1.1 is the address that distributions give to the machine's own name.
func (b *builder) hostsFile(entries []Entry) []mount.Mount {
	p, err := b.files.resolve("/etc/hosts")
	if err != nil || !p.exists || !p.mode.IsRegular() || Covering(entries, p.path).Access != ReadOnly {
		return nil
	}
	text, err := b.files.files.ReadResolved(p.path)
	if err != nil || slices.Contains(strings.Fields(string(text)), hostname) {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return []mount.Mount{{Kind: mount.Text, Target: p.path, File: true, Text: string(text) + "127.0.1.1\t" + hostname + "\n", Why: "the name of the machine"}}
}

// proxyVariables are the proxy variables that programs read; some read one spelling only.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}

// retryEnv bounds how long npm waits between its attempts, in milliseconds, if the network
// is not the host's. npm takes a refused name for a temporary failure.
var retryEnv = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{"npm_config_fetch_retry_mintimeout": "100", "npm_config_fetch_retry_maxtimeout": "500"}
}}

// proxyEnv points the proxy variables to the proxy inside, or removes them: the caller's
// proxy cannot be reached at its address.
func (b *builder) proxyEnv(values map[string]string) {
	if b.set.Network.Mode == "host" {
		return
	}
	maps.Copy(values, retryEnv.Get())
	if b.set.Network.Mode != "proxy" {
		return
	}
	for _, name := range proxyVariables {
		delete(values, name)
		if !b.spec.ProxyEnv {
			continue
		}
		switch strings.ToLower(name) {
		case "no_proxy":
			values[name] = "localhost,127.0.0.1,::1"
		case "all_proxy":
			values[name] = "socks5h://" + Proxy().String()
		default:
			values[name] = "http://" + Proxy().String()
		}
	}
}
