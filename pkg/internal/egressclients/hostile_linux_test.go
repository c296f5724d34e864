package egressclients

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

// inner are addresses that no allowed name may lead to: of the host, of its
// networks, of a cloud's metadata, of the sandbox itself, and such in disguise.
var inner = []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "198.18.77.77", "::1", "::", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"}

// forgets is how long an answer of a name server outside is remembered.
const forgets = 5 * time.Second

// TestRebinding: a name that is allowed leads to its first address, and to no
// inner one, whatever the name server says when it is asked again, by a program
// that asks as well or by one that has kept the address inside.
func TestRebinding(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:curl")
	t.Parallel()
	p := newPlace(t)
	var flags []string
	var first, again, want string
	for i, address := range inner {
		name := fmt.Sprintf("rebinding-%d.hostile.example", i)
		theWorld.zone.set(name, addrs("20.0.0.1"), addrs(address))
		flags = append(flags, "--allow-domain", name)
		first += fmt.Sprintf("curl -sSf http://%s/; ip%d=$(getent ahosts %[1]s | sed -n '/^198/{s/ .*//p;q}')\n", name, i)
		again += fmt.Sprintf("curl -sSf --max-time 20 --resolve %s:80:$ip%d http://%[1]s/ || echo refused\ncurl -sSf --max-time 20 http://%[1]s/ || echo refused\n", name, i)
		want += "served " + name + " HTTP/1.1\n"
	}
	o := p.sandboxed(flags, fmt.Sprintf("%ssleep %v\n%s", first, (forgets+time.Second).Seconds(), again))
	if want += strings.Repeat("refused\n", 2*len(inner)); o.stdout != want {
		t.Errorf("want\n%s: %v", want, o)
	}
	for i, address := range inner {
		if name := fmt.Sprintf("rebinding-%d.hostile.example", i); !o.refused(name, deniedAddress) {
			t.Errorf("the evidence does not say why %s was refused at %s: %v", name, address, o)
		}
	}
}

// TestInnerNames: what an allowed name leads to is judged, by whatever way it
// leads there.
func TestInnerNames(t *testing.T) {
	probetest.Need(t, "command:curl")
	for _, c := range []struct {
		name, alias string
		to          []string
		flags       []string
		want        string
	}{
		{name: "chain.hostile.example", alias: "second.hostile.example", want: "refused\n"},
		{name: "good-chain.hostile.example", alias: registry, want: "served"},
		{name: "range.hostile.example", to: []string{"198.18.77.77", "100::1"}, want: "refused\n"},
		{name: "mixed.hostile.example", to: []string{"10.0.0.1", "20.0.0.1", "127.0.0.1", "fd00::1"}, want: "served"},
		{name: "hosts.example", want: "served"}, // of the host's /etc/hosts
		{name: "private-hosts.example", want: "refused\n"},
		{name: "listed.hostile.example", to: []string{"10.0.0.1"}, flags: []string{"--allow-domain", "10.0.0.1"}, want: forbidden},
		{name: "missing.hostile.example", want: "refused\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			theWorld.zone.set("last.hostile.example", addrs("10.0.0.1"))
			theWorld.zone.alias("second.hostile.example", "last.hostile.example")
			switch {
			case c.alias != "":
				theWorld.zone.alias(c.name, c.alias)
			case c.to != nil:
				theWorld.zone.set(c.name, addrs(c.to...))
			}
			o := p.sandboxed(append(c.flags, "--allow-domain", c.name), hostileScript(c.name))
			expect(t, o, c.want)
		})
	}
}

const deniedAddress = "denied-address"

// hostileScript asks for a name.
func hostileScript(name string) string {
	return "curl -sSf --max-time 20 http://" + name + "/ || echo refused\n"
}

// expect holds that a command printed its parts in their order, and nothing of
// what is forbidden but what is wanted.
func expect(t *testing.T, o outcome, parts ...string) {
	t.Helper()
	rest, found := o.stdout, true
	for _, part := range parts {
		if _, rest, found = strings.Cut(rest, part); !found {
			t.Fatalf("no %q: %v", part, o)
		}
	}
	if strings.Contains(o.stdout, forbidden) && parts[0] != forbidden {
		t.Errorf("it reached an inner server: %v", o)
	}
}

// TestHostileClients: a program that knows of the doors gets nothing by them
// but the name that is allowed.
func TestHostileClients(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:curl")
	const at = `ip=$(getent ahosts ` + registry + ` | sed -n '/^198/{s/ .*//p;q}'); `
	for name, c := range map[string]struct{ script, want string }{
		"the name by its address":       {at + `curl -sSf --resolve ` + registry + `:443:$ip https://` + registry + `/`, "served"},
		"another server name":           {at + `curl -sSf --resolve ` + other + `:443:$ip https://` + other + `/`, ""},
		"no server name":                {at + `curl -sSfk https://$ip/`, ""},
		"proxy":                         {`curl -sSf -x $HTTP_PROXY http://` + registry + `/`, "served"},
		"proxy by address of the name":  {at + `curl -sSf -x $HTTP_PROXY http://$ip/`, "served"},
		"proxy, host field":             {`curl -sSf -x $HTTP_PROXY -H 'Host: ` + registry + `' http://` + other + `/`, ""},
		"proxy, user information":       {`curl -sSf -x $HTTP_PROXY http://` + registry + `@20.0.0.2/`, ""},
		"tunnel to another server name": {`curl -sSf -x $HTTP_PROXY --connect-to ` + other + `:443:` + registry + `:443 https://` + other + `/`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newPlace(t).sandboxed([]string{"--proxy-env", "--allow-domain", registry}, "unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY\n"+c.script+" || echo refused")
			if c.want == "" {
				c.want = "refused\n"
			}
			expect(t, o, c.want)
		})
	}
	targets := []string{"127.0.0.1", "127.1", "2130706433", "0x7f.1", "localhost", "0", "10.0.0.1", "169.254.169.254", "20.0.0.2", "20.0.0.1", "198.18.77.77", "[::1]", "[::ffff:127.0.0.1]", "[fd00::1]", "[2a00::2]", other}
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		t.Run(scheme, func(t *testing.T) {
			script := "unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY\n"
			for _, target := range append(targets, registry) {
				script += fmt.Sprintf("curl -sSfg --max-time 20 -x %s://${HTTP_PROXY#*://} http://%s/ || echo 'refused'\n", scheme, target)
			}
			o := newPlace(t).sandboxed([]string{"--proxy-env", "--allow-domain", registry}, script)
			if want := strings.Repeat("refused\n", len(targets)) + "served " + registry + " HTTP/1.1\n"; o.stdout != want {
				t.Errorf("not %d refusals and an answer: %v", len(targets), o)
			}
		})
	}
}
