package gitguard

import "testing"

func TestOlder(t *testing.T) {
	for version, want := range map[string]bool{
		"2.35.2": false, "2.35.10": false, "2.36": false, "2.39.5 (Apple Git-154)": false, "2.52.0.rc1": false, "3.0.0": false, "2.45.GIT": false,
		"2.35.1": true, "2.35": true, "2.9.5": true, "1.8.3.1": true, "": true, "x": true,
	} {
		if got := older(version, "2.35.2"); got != want {
			t.Errorf("older(%q) = %v", version, got)
		}
	}
}
