package gitguard

import "testing"

func TestHarmless(t *testing.T) {
	for word, want := range map[string]bool{
		"status": true, "--short": true, "--porcelain": true, "HEAD~1": true, "main": true, "": true, "a.go": true,
		"--grep=x": false, "token=x": false, "https://u:p@h": false, "ghp_0123456789abcdef": false, "-pHunter2": false, "AKIA0123456789ABCDEF": false,
	} {
		if got := plainWord(word); got != want {
			t.Errorf("plainWord(%q) = %v", word, got)
		}
	}
}
