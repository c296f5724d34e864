package record

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestExitCodeOfWhatRan: what ran has an exit code, 0 included, and what never ran has none.
func TestExitCodeOfWhatRan(t *testing.T) {
	for status, want := range map[string]bool{StatusExited: true, StatusSignaled: true, StatusTimeout: true, StatusDenied: false} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(&Result{Status: status, Message: "<&>"}); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(b.Bytes(), []byte(`"exit_code":0`)); got != want || !bytes.Contains(b.Bytes(), []byte(`"<&>"`)) {
			t.Errorf("%s: %s", status, b.Bytes())
		}
		var back Result
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Status != status {
			t.Errorf("%s: %v %+v", status, err, back)
		}
	}
}
