package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ethos/pkg/internal/probetest"
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
		w.Header().Set("Content-Type", "application/x-protobuf")
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
	s.shell(`mark=$(ls "$XDG_STATE_HOME"/ethos/exports/*-otlp-* | grep -v lock); cp "$mark" before
		ethos-trace export --follow --otlp ` + server.URL + ` >told 2>&1 &
		while cmp -s "$mark" before; do sleep 0.1; done
		kill -TERM $!; wait $! && grep -q 'sent 1 to' told`).mustSucceed(t)
	s.shell("ethos-trace export").mustExit(t, 2)

	// All work spaces: this one, and one in which a hook has recorded.
	s.shell(`ethos-facts -c 'go vet' | ethos-decide | ethos-trace
		git init -q ../other && cd ../other && printf '{"session_id":"a","hook_event_name":"PreToolUse","cwd":"%s","tool_name":"Bash","tool_input":{"command":"ls"}}' "$PWD" |
		ethos-facts --from claude | ethos-decide --reply claude`).mustSucceed(t)
	if o := s.shell("ethos-trace export --all-workspaces --otlp " + server.URL).mustSucceed(t); !strings.HasPrefix(o.stdout, "sent 2 to ") {
		t.Errorf("of two work spaces: %v", o)
	}
	if o := s.shell("cd ../other && ethos-trace export --all-workspaces --otlp " + server.URL).mustSucceed(t); !strings.HasPrefix(o.stdout, "sent 0 to ") {
		t.Errorf("sent again: %v", o)
	}
	s.shell("ETHOS_STORE=$PWD/own ethos-trace <<<'no record'; ETHOS_STORE=$PWD/own ethos-trace export --all-workspaces --otlp " + server.URL + " | grep 'sent 1 to'").mustSucceed(t)
	s.shell("ethos-trace export --all-workspaces --store own --otlp "+server.URL).mustExit(t, 2)
}

// query is the block of docs/fleet.md in a language.
func query(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(), "docs/fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```"+language+"\n")
	for language == "sh" && ok && !strings.HasPrefix(rest, "cat ") {
		_, rest, ok = strings.Cut(rest, "```sh\n")
	}
	block, _, end := strings.Cut(rest, "```")
	if !ok || !end {
		t.Fatalf("docs/fleet.md has no %s", language)
	}
	return block
}

// asked is a store with two records that matched git.force_push_protected, one of them twice in the store, and one that nothing matched.
func asked(t *testing.T) *session {
	t.Helper()
	s := newSession(t)
	s.shell(`for c in 'git push --force origin main' 'git push -f origin main' true; do ethos-facts -c "$c" | ethos-decide; done >lines
		ethos-trace <lines; tail -n 1 lines | ethos-trace; ethos-trace verify`).mustSucceed(t)
	return s
}

// TestQueryJQ: the query of docs/fleet.md says what is in a store, where a call stands twice.
func TestQueryJQ(t *testing.T) {
	probetest.Need(t, "command:jq")
	s := asked(t)
	if o := s.shell(query(t, "sh")).mustSucceed(t); o.stdout != "1 allow\n2 deny\n" {
		t.Errorf("%v", o)
	}
}

// TestForeignDuckDB: DuckDB reads a store as docs/fleet.md has it.
func TestForeignDuckDB(t *testing.T) {
	probetest.Need(t, "command:node")
	module := foreign(t, "duckdb", "node_modules/@duckdb/node-api")
	s := asked(t)
	s.write("query.sql", query(t, "sql"))
	s.write("ask.js", `const { DuckDBInstance } = require(process.argv[2]);
(async () => {
  const db = await (await DuckDBInstance.create()).connect();
  const rows = await db.runAndReadAll(require("fs").readFileSync("query.sql", "utf8"));
  console.log(JSON.stringify(rows.getRowsJson()));
})();
`)
	var rows [][2]string
	if o := s.shell("node ask.js " + module).mustSucceed(t); json.Unmarshal([]byte(o.stdout), &rows) != nil || len(rows) == 0 || rows[0] != [2]string{"git.force_push_protected", "2"} {
		t.Errorf("%v", o)
	}
}
