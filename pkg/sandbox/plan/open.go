package plan

import (
	"encoding/pem"
	"errors"
	"maps"
	"slices"
	"strings"

	"ethos/pkg/capability"
	egressrule "ethos/pkg/egress/rule"
	"ethos/pkg/sandbox/kernel/mount"
)

// Open describes the hosts whose requests are opened and judged. Requests without TLS are
// read directly; for those with TLS, the proxy uses the user's certificate authority.
type Open struct {
	CABundle string      `json:"ca_bundle,omitempty"` // absolute path of the authority's certificate and key; "" opens no TLS
	Requests []string    `json:"requests,omitempty"`  // see [egressrule.Endpoint]
	Inject   []Injection `json:"inject,omitempty"`
}

// Injection is a credential that is inserted into requests. A plan never contains the
// secret: it is read from the caller's environment when the command starts.
type Injection struct {
	Host     string `json:"host"`
	Header   string `json:"header"`
	Env      string `json:"env"`
	Sentinel string `json:"sentinel"` // the value of the variable inside
	Plain    bool   `json:"plain,omitempty"`
}

// sentinel returns the string that stands for a credential inside. The dot at its end keeps
// one sentinel from being a prefix of another.
func sentinel(variable string) string { return "ethos-sentinel." + variable + "." }

// minSecret is the shortest secret, in bytes, that is searched for in what the command is
// given. A shorter one could occur by chance.
const minSecret = 8

const authorityHint = "name the file with the certificate and the key of your authority: --ca-bundle FILE (mitm.ca_bundle in repo_config.yaml)"

// opening reads the declarations about opened requests. It runs before anything else of the
// network is planned.
func (b *builder) opening() error {
	n := &b.set.Network
	if n.Mode != "proxy" {
		if b.spec.Network.CABundle != "" || len(b.spec.Network.AllowRequests)+len(b.spec.Network.Inject) > 0 {
			return Refuse(CodeDeclaration, "use --net proxy", "network %q cannot check requests or inject credentials", n.Mode)
		}
		return nil
	}
	if n.CABundle == "" && len(n.AllowRequests)+len(n.Inject) == 0 {
		return nil
	}
	b.open = &Open{}
	for _, add := range []func() error{b.authority, b.requests, b.injections} {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}

// authority hides the file of the certificate authority and keeps its certificate.
func (b *builder) authority() error {
	declared := b.set.Network.CABundle
	if declared == "" {
		return nil
	}
	named, err := b.expand(declared)
	if err != nil {
		return Refuse(CodeDeclaration, "", "authority: %w", err)
	}
	p, err := b.files.resolve(named.Name)
	if err != nil {
		return Refuse(CodeDeclaration, authorityHint, "authority %s: %w", named.Name, err)
	}
	if !p.exists || !p.mode.IsRegular() {
		return Refuse(CodeDeclaration, authorityHint, "authority %s is not a file", named.Name)
	}
	for _, path := range append(p.links, p.path) {
		if mount.Within(path, b.spec.Workspace) {
			return Refuse(CodeDeclaration, "make a new authority outside of the work space, such as in ~/.config/ethos: a command may have read this key",
				"authority %s lies in the work space", path)
		}
	}
	if info, err := b.files.lstat(p.path); err == nil && linksTo(info) > 1 {
		return Refuse(CodeDeclaration, "use a copy of it, or remove the other links", "authority %s has another hard link, through which the command may read it", p.path)
	}
	text, err := b.files.files.ReadResolved(p.path)
	if err != nil {
		return Refuse(CodeDeclaration, authorityHint, "authority %s: %w", p.path, err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			b.certificate = string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
			break
		}
	}
	if b.certificate == "" {
		return Refuse(CodeDeclaration, authorityHint, "authority %s: it contains no certificate", p.path)
	}
	b.open.CABundle = p.path
	b.rules = append(b.rules, rule{p, denyRead, whyAuthority})
	for _, link := range p.links {
		b.rules = append(b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, whyAuthority})
	}
	return nil
}

const whyAuthority = "key of the authority"

// keptAuthority refuses an authority whose file the command can write.
func (b *builder) keptAuthority() error {
	for _, r := range b.rules {
		if b.open != nil && b.open.CABundle != "" && r.class == grantWrite && mount.Within(b.open.CABundle, r.path) {
			return Refuse(CodeDeclaration, "keep it where no command writes, such as ~/.config/ethos", "authority %s lies in %s, which the command can write", b.open.CABundle, r.path)
		}
	}
	return nil
}

// requests checks that every rule on requests can be enforced.
func (b *builder) requests() error {
	n := &b.set.Network
	rules, err := egressrule.ParseEndpoints(n.AllowRequests)
	if err != nil {
		return Refuse(CodeDeclaration, "write it as --allow-request 'api.example.com GET,HEAD /v1/*'", "%w", err)
	}
	deny, err := egressrule.ParseSet(n.DenyDomains)
	if err != nil {
		return Refuse(CodeDeclaration, "", "denied domain: %w", err)
	}
	for _, e := range rules {
		denied := slices.ContainsFunc(deny, func(p egressrule.Pattern) bool { return p.Covers(e.Host) })
		if n.CABundle == "" && !denied {
			return Refuse(CodeDeclaration, authorityHint, "requests to %s cannot be checked inside TLS without an authority", e.Host)
		}
	}
	b.open.Requests = rules.Strings()
	return nil
}

// injections checks that every credential is set, and that the command cannot get it in
// another way.
func (b *builder) injections() error {
	for _, text := range b.set.Network.Inject {
		j, err := capability.ParseInjection(text)
		if err != nil {
			return Refuse(CodeDeclaration, "write it as --inject 'api.example.com Authorization=API_TOKEN'", "%w", err)
		}
		if b.set.Network.CABundle == "" && !j.Plain {
			return Refuse(CodeDeclaration, authorityHint+"; for a host without TLS write http://"+j.Host.String(), "%s for %s cannot be injected inside TLS without an authority", j.Env, j.Host)
		}
		if err := b.credential(j); err != nil {
			return err
		}
		b.open.Inject = append(b.open.Inject, Injection{Host: j.Host.String(), Header: j.Header, Env: j.Env, Sentinel: sentinel(j.Env), Plain: j.Plain})
	}
	return nil
}

func (b *builder) credential(j capability.Injection) error {
	secret := b.getenv(j.Env)
	_, set := b.set.Env.Set[j.Env]
	switch {
	case secret == "":
		return Refuse(CodeDeclaration, "export "+j.Env+" where ethos-sandbox is started, or remove the injection", "credential for %s: the variable %s is not set", j.Host, j.Env)
	case strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Refuse(CodeDeclaration, "give "+j.Env+" a value of one line", "credential for %s: the value of %s cannot stand in a header field", j.Host, j.Env)
	case slices.Contains(passedEnv, j.Env) || slices.Contains(toolEnv, j.Env) || matches(j.Env, injecting):
		return Refuse(CodeDeclaration, "rename the variable of the credential", "credential for %s: %s is a variable that programs obey", j.Host, j.Env)
	case set || slices.Contains(b.set.Env.Pass, j.Env):
		return Refuse(CodeDeclaration, "remove "+j.Env+" from --env (env.pass and env.set): the command gets a sentinel in it", "credential for %s: %s is also passed to the command", j.Host, j.Env)
	}
	if len(secret) < minSecret {
		return nil
	}
	if slices.ContainsFunc(b.spec.Argv, func(word string) bool { return strings.Contains(word, secret) }) {
		return Refuse(CodeDeclaration, "write $"+j.Env+" in single quotes, so that it is expanded inside", "credential for %s: the command line contains the value of %s", j.Host, j.Env)
	}
	return nil
}

// openEnv sets the variables that make programs trust the authority, and those that hold
// sentinels. If another variable contains a secret, it returns an error.
func (b *builder) openEnv(values map[string]string) error {
	if b.open == nil {
		return nil
	}
	for _, j := range b.open.Inject {
		secret := b.getenv(j.Env)
		for name, value := range values {
			if len(secret) >= minSecret && strings.Contains(value, secret) {
				return Refuse(CodeDeclaration, "do not pass "+name+" to the command", "credential for %s: the variable %s contains the value of %s", j.Host, name, j.Env)
			}
		}
	}
	for _, j := range b.open.Inject {
		values[j.Env] = j.Sentinel
	}
	for _, name := range trustVariables {
		if _, declared := values[name]; !declared && b.trusted != "" {
			values[name] = b.trusted
		}
	}
	return nil
}

// trustVariables are for programs that do not read the system's certificate bundle: those
// that use OpenSSL, Node, and Python's requests and pip.
var trustVariables = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "PIP_CERT"}

// bundles are the paths of the certificates that programs trust: Debian, Alpine and others;
// Fedora; openSUSE; Fedora, extracted; OpenSSL's own name.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// trustFiles returns mounts of the system's bundles with the authority's certificate added.
// Each is mounted over the file that the bundle's name resolves to.
func (b *builder) trustFiles(entries []Entry) (list []mount.Mount, err error) {
	if b.certificate == "" || len(b.open.Requests)+len(b.open.Inject) == 0 {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, name := range bundles {
		p, err := b.files.resolve(name)
		if err != nil || !p.exists || !p.mode.IsRegular() || Covering(entries, p.path).Access != ReadOnly {
			continue
		}
		if b.trusted == "" {
			b.trusted = name
		}
		if seen[p.path] {
			continue
		}
		seen[p.path] = true
		text, err := b.files.files.ReadResolved(p.path)
		if err != nil {
			return nil, Refuse(CodeSetup, "", "trusted certificates: %w", err)
		}
		whole := strings.TrimRight(string(text), "\n") + "\n" + b.certificate
		list = append(list, mount.Mount{Kind: mount.Text, Target: p.path, File: true, Text: whole, Why: "trusts the authority"})
	}
	if b.trusted == "" {
		return nil, Refuse(CodeDeclaration, "install ca-certificates", "%w", errors.New("this machine has no bundle of trusted certificates to add the authority to: "+join(bundles)))
	}
	return list, nil
}

// Opened returns the hosts whose requests are opened, sorted and without duplicates.
func (o *Open) Opened() []string {
	hosts := map[string]bool{}
	for _, text := range o.Requests {
		host, _, _ := strings.Cut(text, " ")
		hosts[host] = true
	}
	for _, j := range o.Inject {
		hosts[j.Host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}
