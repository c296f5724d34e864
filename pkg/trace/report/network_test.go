package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// TestDetailNetwork holds that show lists each connection of a run, what was
// refused first with what would allow it.
func TestDetailNetwork(t *testing.T) {
	var out bytes.Buffer
	if err := Detail(&out, Terminal{}, entry(t, 1, argv("npm", "ci"), connected(1, sampleConnections()...))); err != nil {
		t.Fatal(err)
	}
	golden(t, "detail-network.txt", out.String())
}

// TestNetworkIsBounded holds that a command that asks for very many names fills
// neither the memory nor a report, that what it was refused is shown before
// what it reached, and that what is left out is counted.
func TestNetworkIsBounded(t *testing.T) {
	var connections []record.Connection
	for n := range 400 {
		connections = append(connections, record.Connection{Name: fmt.Sprintf("a%d.example", n), Port: 443, Allowed: true})
	}
	for n := range 400 {
		c := refusedName(fmt.Sprint(n)+strings.Repeat("x", n*20), 443)
		connections = append(connections, c, c)
	}
	set := connected(0, connections...)
	r := set["result"].(record.Result)
	r.Capture.Sandbox.Denials, r.Capture.Sandbox.ConnectionsMore = nil, 5
	set["result"] = r
	e := entry(t, 1, argv("npm", "ci"), set)
	s := newSummary()
	s.add(e)
	for room, want := range map[int]int{networkRows: networkRows, 10_000: 2 * maxDestinations} {
		rows, more := s.network.first(room)
		for i, row := range rows {
			if more += row.times; (i < min(room, maxDestinations)) != (row.verdict == record.ConnectionWasRefused) {
				t.Fatalf("row %d of %d is %s", i, room, row.verdict)
			}
		}
		if len(rows) != want || more != 1205 {
			t.Errorf("%d rows, %d connections", len(rows), more)
		}
	}
	for name, text := range forms(t, e) {
		if !strings.Contains(text, "more connections") || strings.Count(text, ".example") > 2*maxDestinations+htmlFindings {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if longest := longestRun(text, 'x'); longest > 300 { // a remedy is whole, or not there
			t.Errorf("%s: a name of %d bytes", name, longest)
		}
	}
}

// forms are all reports of an entry.
func forms(t testing.TB, e *trace.Entry) map[string]string {
	t.Helper()
	var human, narrow, markdown, page, detail bytes.Buffer
	through(t, NewHuman(&human, Terminal{}, testNow), []*trace.Entry{e})
	through(t, NewHuman(&narrow, Terminal{Width: func() int { return 60 }}, testNow), []*trace.Entry{e})
	through(t, NewMarkdown(&markdown), []*trace.Entry{e})
	through(t, NewHTML(&page, "1", testNow), []*trace.Entry{e})
	if err := Detail(&detail, Terminal{}, e); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"human": human.String(), "narrow": narrow.String(), "markdown": markdown.String(), "html": page.String(), "detail": detail.String()}
}

func TestByteCount(t *testing.T) {
	got := map[int64]string{}
	want := map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9960: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		12_345_678: "12 MB", 7e9: "7.0 GB", 9e18: "9000000 TB",
	}
	for n := range want {
		got[n] = byteCount(n)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
