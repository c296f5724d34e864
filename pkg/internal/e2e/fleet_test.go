package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// timing is the one member of a record that deciding twice does not repeat.
const timing = `sed -E 's/,"duration_ms":[0-9.e+-]+\}/}/'`

// TestShards: facts and decide keep nothing between lines, so that any number of
// processes that share out the lines give byte for byte what one gives, but for
// the time that it took.
func TestShards(t *testing.T) {
	s := newSession(t)
	s.shell("git init -q .").mustSucceed(t)
	var lines strings.Builder
	for i := range 12 {
		fmt.Fprintf(&lines, "go vet ./p%d\nrm -rf / # %d\ngit push --force origin main\ncat README.md | head -n %d\necho 'open %d\n", i, i, i, i)
	}
	s.write("lines", lines.String())
	s.shell("ethos-facts --from lines < lines > actions.ndjson").mustSucceed(t)
	one := s.shell("ethos-facts --from records < actions.ndjson | ethos-decide | " + timing).stdout
	if strings.Count(one, "\n") != 60 || !strings.Contains(one, `"verdict":"deny"`) || !strings.Contains(one, `"verdict":"allow"`) || strings.Contains(one, "duration_ms") {
		t.Fatalf("one process gives\n%.2000s", one)
	}
	for _, n := range []int{2, 7} {
		many := s.shell(fmt.Sprintf(`split -n r/%d --filter='ethos-facts --from records | ethos-decide > $FILE.decided || [ $? -eq 1 ]' actions.ndjson s.
			paste -d '\n' s.*.decided | sed '/^$/d' | %s; rm s.*`, n, timing)).stdout
		if many != one {
			t.Errorf("%d shards give something else than one process", n)
		}
	}
}

// TestExport: ethos-trace becomes the exporter, which ends with SIGTERM when it
// follows, and says what a collector does not take.
func TestExport(t *testing.T) {
	var came, status atomic.Int64
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	s := newSession(t)
	s.shell("git init -q . && ethos-facts -c 'go vet' | ethos-decide | ethos-trace").mustSucceed(t)
	s.shell("ethos-trace export --otlp " + server.URL).mustSucceed(t)
	if came.Load() != 2 {
		t.Errorf("%d requests, wanted one for logs and one for spans", came.Load())
	}
	s.shell("ethos-facts -c 'go vet' | ethos-decide | ethos-trace").mustSucceed(t)
	status.Store(http.StatusUnauthorized)
	if got := s.shell("ethos-trace export --otlp "+server.URL).mustExit(t, 1); !strings.Contains(got.stderr, "OTEL_EXPORTER_OTLP_HEADERS") {
		t.Errorf("no way out: %s", got.stderr)
	}
	status.Store(http.StatusOK)
	s.shell(`mark=$(ls .git/coding-ethos/traces/export/otlp-* | grep -v lock); cp "$mark" before
		ethos-trace export --follow --otlp ` + server.URL + ` >told 2>&1 &
		while cmp -s "$mark" before; do sleep 0.1; done
		kill -TERM $!; wait $! && grep -q 'sent 1 to' told`).mustSucceed(t)
	s.shell("ethos-trace export").mustExit(t, 2)
}
