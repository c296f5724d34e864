package e2e

import (
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestCallersSecretsStayOutside: a command of the pipe does not get the
// caller's variables because its profile sets some, or names some for tools; a
// variable that somebody names for it reaches it, and no other.
func TestCallersSecretsStayOutside(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.env = append(s.env, "GITHUB_TOKEN=one", "GEMINI_API_KEY=two", "CI=true")
	const pipe = ` -- sh -c 'echo "${GITHUB_TOKEN:+one},${GEMINI_API_KEY:+two},$CI,$GOPROXY"' | ethos-decide | ethos-sandbox | jq -rj 'select(.result) | .result.capture.stdout.text'`
	for flags, want := range map[string]string{
		"":                                       ",,true,\n",
		"--tool go-vet":                          ",,true,off\n",
		"--tool go-vet --grant env=GITHUB_TOKEN": "one,,true,off\n",
		"--profile agent-network --grant network=loopback":                            ",,true,\n",
		"--profile agent-network --grant network=loopback --grant env=GEMINI_API_KEY": ",two,true,\n",
	} {
		if o := s.shell("ethos-facts " + flags + pipe).mustSucceed(t); o.stdout != want {
			t.Errorf("%q: %q, not %q", flags, o.stdout, want)
		}
	}
}
