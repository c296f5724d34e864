package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// show runs a script of examples/show as it stands.
func (s *session) show(t *testing.T, name, has string) {
	t.Helper()
	if o := s.shell("bash '" + filepath.Join(root(), "examples/show", name) + "'").mustSucceed(t); !strings.Contains(o.stdout, has) {
		t.Errorf("%s does not say %q: %v", name, has, o)
	}
}

// TestShowClaim: an agent that claims is stopped, and ends its turn with a proof.
func TestShowClaim(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:jq")
	newSession(t).show(t, "claim-and-prove", "proven      ./tests.sh")
}

// TestShowCeiling: a ceiling comes as a bundle, and nothing goes past it.
func TestShowCeiling(t *testing.T) {
	probetest.Need(t, probetest.Root, probetest.UserNS, "command:unshare", "command:setpriv", "command:mount", "command:openssl")
	probetest.Whole(t) // TestCeiling and TestBundles are in a short run, too
	newSession(t).show(t, "ceiling", "nothing went past it")
}

// TestForeignShowProof: cosign and ethos-trace verify check a commit elsewhere.
func TestForeignShowProof(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:openssl")
	s := newSession(t)
	s.env = append(s.env, "COSIGN="+foreign(t, "cosign", "cosign"))
	s.show(t, "proof-elsewhere", "the first commit is still proven")
}

// TestForeignCollector: a real collector is killed and started again while records are written and sent, and neither a log record nor a span is lost.
func TestForeignCollector(t *testing.T) {
	s := newSession(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	s.env = append(s.env, "OTELCOL="+foreign(t, "otelcol", "collector/otelcol"), "PORT="+strconv.Itoa(port), "RECORDS="+os.Getenv("ETHOS_TEST_EXPORTED"))
	s.show(t, "collector-under-fire", " spans, ")
}
