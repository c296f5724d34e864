package policy

import (
	"os"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

func TestNames(t *testing.T) {
	for word, want := range map[string]bool{
		"~/.vault-token": true, "/root/.vault-token": true, "/home/me/.vault-token": true, "/Users/me/.vault-token": true, "~me/.vault-token": true,
		"~/.config/sops": true, "~/.config/sops/age/keys.txt": true, "/home/me/./x/../.vault-token": true,
		"@~/.vault-token": true, "file=@/home/me/.vault-token;type=text/plain": true, "--config=~/.vault-token": true, "-d@/root/.vault-token": true,
		"-v~/.config/sops:/k:ro": true, "-v=~/.vault-token:/k": true, "src=~/.vault-token,dst=/k": true,
		"": false, "~": false, "/": false, ".vault-token": false, "docs/.vault-token": false, "/srv/me/.vault-token": false, "~/.vault-tokens": false, "~/x/.vault-token": false,
		"~+/.vault-token": false, "./conf:/root/.vault-token": false, "https://example.com/root/.vault-token": false, "cat ~/.vault-token": false, "~/.config/sopsx/y": false,
		"/root/" + strings.Repeat("a/", 3000) + "../.vault-token": false,
	} {
		patterns, _ := constant("paths.credentials")
		if got, err := namesAny(patterns, word); got != want || err != nil {
			t.Errorf("%q: %v %v", word, got, err)
		}
	}
	for word, want := range map[string]bool{
		"/srv/app/.kube/config": true, "/.netrc": true, "/srv/.ssh/x.pem": true, "~/.kube/config": true,
		".kube/config": false, "/srv/app/.kube/cache": false, "~/app/.kube/config": false,
	} {
		patterns, _ := constant("paths.credential_files")
		if got, err := namesAny(patterns, word); got != want || err != nil {
			t.Errorf("%q: %v %v", word, got, err)
		}
	}
	if _, err := namesAny([]string{"~/a["}, "~/abc"); err == nil {
		t.Error("a malformed pattern is no error")
	}
}

// TestConstants holds that prefilters can test the patterns of each constant, one by one.
func TestConstants(t *testing.T) {
	for _, name := range constantNames() {
		patterns, ok := constant(name)
		if !ok || len(patterns) == 0 {
			t.Errorf("%s has no patterns", name)
		}
		for _, p := range patterns {
			if !doublestar.ValidatePattern(p) || strings.Contains(p, "{") {
				t.Errorf("%s: %q", name, p)
			}
		}
	}
	text, err := os.ReadFile("../../docs/writing-policies.md")
	for _, name := range constantNames() {
		if err != nil || !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/writing-policies.md does not explain %s (%v)", name, err)
		}
	}
	for _, name := range []string{"credentials", "paths.", "paths.x"} {
		if _, ok := constant(name); ok {
			t.Errorf("%s is a constant", name)
		}
	}
}

// TestDigestCountsConstants: the digest of a set depends on the lists that its policies read.
func TestDigestCountsConstants(t *testing.T) {
	digest := func(reads ...string) string {
		return (&Set{rules: []*rule{{digest: "x", reads: reads}}}).seal().digest
	}
	if none, one, other := digest("files"), digest("paths.ethos"), digest("paths.credentials"); none == one || one == other {
		t.Errorf("%s, %s and %s", none, one, other)
	}
}
