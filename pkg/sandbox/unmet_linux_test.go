package sandbox

import (
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// TestNoNetworkIsTold: a command that failed and tried to use a network that it
// does not have is told so, by what the kernel counted; one that did not try, or
// did not fail, is told nothing.
func TestNoNetworkIsTold(t *testing.T) {
	probetest.Need(t, "command:bash")
	outside, own := "echo >/dev/udp/20.0.0.1/53", "echo >/dev/udp/127.0.0.53/53"
	closed := "echo >/dev/tcp/127.0.0.1/9" // the kernel refuses it
	for name, c := range map[string]struct{ mode, script, want string }{
		"none, DNS":              {"none", outside + "; exit 1", "an address outside: the command has no network, and tried it once; --allow-domain NAME"},
		"none, resolver by lo":   {"none", own + "; " + own + "; exit 1", "an address outside: the command has no network, and tried it 2 times; --allow-domain NAME"},
		"none, not tried":        {"none", "exit 1", ""},
		"none, no failure":       {"none", outside + "; true", ""},
		"loopback, DNS":          {"loopback", outside + "; exit 1", "an address outside: the command has only its own loopback network, and tried it once; --allow-domain NAME"},
		"loopback, TCP":          {"loopback", "echo >/dev/tcp/20.0.0.1/80; exit 1", "an address outside: the command has only its own loopback network, and tried it once; --allow-domain NAME"},
		"loopback, own resolver": {"loopback", own + "; exit 1", "a datagram to a port on which nothing listens: the command has only its own loopback network, and tried it once; --allow-domain NAME"},
		"loopback, own server":   {"loopback", closed + "; exit 1", ""},
		"killed":                 {"none", outside + "; kill -9 $$", "an address outside: the command has no network, and tried it once; --allow-domain NAME"},
	} {
		spec := script(t, "")
		spec.Argv = []string{"bash", "-c", c.script}
		spec.Network = record.Network{Mode: c.mode}
		r := execute(t, spec)
		var told []string
		for _, d := range r.Evidence.Denials {
			told = append(told, d.What+": "+d.Reason+"; "+d.Remedy)
		}
		if got := strings.Join(told, "\n"); r.err != nil || got != c.want {
			t.Errorf("%s: %v %q, want %q\n%s", name, r.err, got, c.want, r.Stderr.Text)
		}
	}
}
