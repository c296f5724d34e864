package egressclients

import (
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestBrowser: a browser's hello looks like one that hides the server's name,
// so it is refused and the run says what would let it through. With that it
// opens a page of the name that is allowed, and of no other.
func TestBrowser(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:chromium")
	const open = `mkdir -p "$HOME/b"; chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking --ignore-certificate-errors ` +
		`--user-data-dir="$HOME/b" --timeout=5000 --dump-dom https://NAME/ 2>&1`
	page := func(name string) string { return strings.ReplaceAll(open, "NAME", name) }
	p := newPlace(t)
	if twin := p.direct(page(registry)); !strings.Contains(twin.stdout, "served "+registry) {
		t.Fatalf("without a sandbox: %v", twin)
	}
	allow := []string{"--allow-domain", registry}
	hidden := p.sandboxed(allow, page(registry))
	if strings.Contains(hidden.stdout, "served") || !hidden.refused(registry, "hidden-server-name") || !strings.Contains(hidden.stderr, "hint: --sni allow\n") {
		t.Errorf("by default: %v", hidden)
	}
	allow = append(allow, "--sni", "allow")
	if allowed := p.sandboxed(allow, page(registry)); !strings.Contains(allowed.stdout, "served "+registry) || !allowed.connected("transparent") {
		t.Errorf("allowed: %v", allowed)
	}
	if refused := p.sandboxed(allow, page(other)); strings.Contains(refused.stdout, "served") || refused.remedy(other) != other {
		t.Errorf("not allowed: %v", refused)
	}
}

// TestFronting: TLS for another server than the judged one is refused, also
// where that is allowed as well; --sni allow is a way to it, which is its price.
func TestFronting(t *testing.T) {
	probetest.Need(t, "command:curl")
	p := newPlace(t)
	front := "curl -sS --http1.1 --connect-to " + other + ":443:" + registry + ":443 https://" + other + "/"
	if twin := p.direct(front); !strings.Contains(twin.stdout, "served "+other) {
		t.Fatalf("without a sandbox: %v", twin)
	}
	for _, flags := range [][]string{{"--allow-domain", registry}, {"--allow-domain", registry, "--sni", "require"}, {"--allow-domain", registry + "," + other}} {
		if o := p.sandboxed(flags, front); strings.Contains(o.stdout, "served") || !o.refused(registry, "denied-server-name") || strings.Contains(o.stderr, "--sni allow") {
			t.Errorf("%q: %v", flags, o)
		}
	}
	if o := p.sandboxed([]string{"--allow-domain", registry, "--sni", "allow"}, front); !strings.Contains(o.stdout, "served "+other) {
		t.Errorf("the price: %v", o)
	}
}
