package probe

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestAttacksBite: unconfined everything that the confined process tries goes through, and the comparison says of each that it does not hold. So a yes means something.
func TestAttacksBite(t *testing.T) {
	s, err := newScene()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	mission, err := json.Marshal(s.Mission)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Inside(string(mission), &out); err != nil {
		t.Fatal(err)
	}
	var a Attempt
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || len(a) != 6 {
		t.Fatalf("%v: %s", err, &out)
	}
	for name, fault := range a {
		if fault != "" {
			t.Errorf("%s failed unconfined: %s", name, fault)
		}
	}
	var r Report
	r.compare(s, a)
	for _, c := range r.Checks {
		want := No
		if c.Name == "a declared file can be written" {
			want = Yes
		}
		if c.Outcome != want {
			t.Errorf("%s: %s", c.Name, c.Outcome)
		}
	}
	if r.judge(); r.OK {
		t.Error("it is OK unconfined")
	}
}
