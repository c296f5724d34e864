package docblock

import "testing"

func TestReplace(t *testing.T) {
	made, err := replace([]byte("a <!-- x -->b<!-- /x --> c"), "x", "d")
	if want := "a <!-- x -->d<!-- /x --> c"; err != nil || string(made) != want {
		t.Errorf("have %q, %v; want %q", made, err, want)
	}
	for _, text := range []string{"", "<!-- x -->", "<!-- /x --> <!-- x -->"} {
		if _, err := replace([]byte(text), "x", ""); err == nil {
			t.Errorf("%q has no block, and no error is reported", text)
		}
	}
}
