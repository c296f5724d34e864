package report

import (
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestWrites: what a command changed in a view stands in the report and in the
// detail, and nothing of it where there was no view.
func TestWrites(t *testing.T) {
	set := ran("", 0, 5, "", "")
	res := set["result"].(record.Result)
	res.Capture.Writes = &record.Writes{Created: 1, Deleted: 2, Bytes: 7, More: 2, List: []record.Write{{Path: "/w/new<file", Op: record.WriteCreated, Type: "file", Mode: "0644", Size: 7}}}
	set["result"] = res
	e := entry(t, 1, argv("make"), set)
	var html, detail strings.Builder
	writeWrites(&html, e)
	for _, want := range []string{"1 created, 0 modified, 2 deleted, 7 bytes", "<code>/w/new&lt;file</code>", "2 more writes"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("%q is not in %s", want, html.String())
		}
	}
	if err := Detail(&detail, Terminal{}, e); err != nil || !strings.Contains(detail.String(), "1 created, 0 modified, 2 deleted, 7 bytes") {
		t.Errorf("%v %s", err, detail.String())
	}
	html.Reset()
	if writeWrites(&html, entry(t, 1, argv("make"), ran("", 0, 5, "", ""))); html.Len() > 0 {
		t.Errorf("without a view: %s", html.String())
	}
}
