package trace

import (
	"strings"
	"testing"
)

// TestLivePieces cuts text with a secret at every byte: from where it can be known for a secret, nothing of it passes.
func TestLivePieces(t *testing.T) {
	for _, c := range []struct{ text, secret string }{
		{"log in with DB_PASSWORD=hunter2hunter and go", "hunter2hunter"},
		{"x\n-----BEGIN PRIVATE KEY-----\nAAAA\nBBBB\n-----END PRIVATE KEY-----\nrest\n", "BBBB"},
		{"Authorization: Bearer abcdefghijklmnopqrstuvwxyz end", "abcdefghijklmnopqrstuvwxyz"},
	} {
		for cut := range len(c.text) {
			l := NewLiveRedactor(NewRedactor())
			first, _ := l.Piece("s", c.text[:cut])
			second, _ := l.Piece("s", c.text[cut:])
			start := strings.Index(c.text, c.secret)
			end := start + len(c.secret)
			if cut >= end {
				continue // it passed whole, with the first piece
			}
			if tail := c.text[max(cut, start):end]; len(tail) > 2 && strings.Contains(second, tail) {
				t.Errorf("cut at %d: %q then %q", cut, first, second)
			}
			if rest := c.text[end:]; !strings.HasSuffix(second, rest[len(rest)-3:]) {
				t.Errorf("cut at %d: what follows the secret is gone: %q", cut, second)
			}
		}
	}
}

// TestLivePrivateKey prints a long key line by line.
func TestLivePrivateKey(t *testing.T) {
	l := NewLiveRedactor(NewRedactor())
	var out strings.Builder
	put := func(s string) {
		got, _ := l.Piece("s", s)
		out.WriteString(got)
	}
	put("-----BEGIN RSA PRIVATE KEY-----\n")
	for range 120 {
		put("MIIEsecretsecretsecretsecretsecretsecretsecretsecretsecretsecret\n")
	}
	put("-----END RSA PRIVATE KEY-----\n")
	put("hello\n")
	if strings.Contains(out.String(), "MIIE") || !strings.HasSuffix(out.String(), "hello\n") {
		t.Errorf("%.300q", out.String())
	}
}

func TestLiveStreamsAreApart(t *testing.T) {
	l := NewLiveRedactor(NewRedactor())
	l.Piece("a", "TOKEN=")
	if got, n := l.Piece("b", "value next"); n != 0 || got != "value next" {
		t.Errorf("%q", got)
	}
	if got, _ := l.Piece("a", "value1234 next"); strings.Contains(got, "value1234") {
		t.Errorf("%q", got)
	}
}
