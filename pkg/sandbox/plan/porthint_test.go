package plan

import (
	"strings"
	"testing"

	egressrule "ethos/pkg/egress/rule"
)

// TestPortHint: a remedy without a port says what it stands for, and how another
// port is allowed; that is an allowed domain as soon as a port is put in.
func TestPortHint(t *testing.T) {
	for _, remedy := range []string{"--allow-domain a.example", "--allow-domain '*.a.example'", "--allow-domain 10.0.0.7", "--allow-domain 2001:db8::1", "--allow-domain NAME"} {
		hint := PortHint(remedy)
		if !strings.HasPrefix(hint, ", for ports 80 and 443; for another port: --allow-domain ") || !strings.HasSuffix(strings.Trim(hint, "'"), ":PORT") {
			t.Errorf("%s: %q", remedy, hint)
			continue
		}
		_, pattern, _ := strings.Cut(strings.ReplaceAll(hint, "PORT", "8080"), "--allow-domain ")
		if p, err := egressrule.ParsePattern(strings.Trim(pattern, "'")); err != nil || p.Port() != 8080 {
			t.Errorf("%s: %q: %v", remedy, hint, err)
		}
	}
	for _, remedy := range []string{"", "--allow-domain a.example:443", "--allow-domain '[2001:db8::1]:443'", "--allow-domain a.example:PORT", "a.example", "--allow-domain ", "--net host"} {
		if hint := PortHint(remedy); hint != "" {
			t.Errorf("%s: %q", remedy, hint)
		}
	}
}
