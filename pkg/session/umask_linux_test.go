package session

import "testing"

func TestParseUmask(t *testing.T) {
	if mask, err := parseUmask([]byte("Name:\tx\nUmask:\t0027\nState:\tR\n")); mask != 0o27 || err != nil {
		t.Errorf("%o %v", mask, err)
	}
	if _, err := parseUmask([]byte("Name:\tx\n")); err == nil {
		t.Error("no umask is none")
	}
}
