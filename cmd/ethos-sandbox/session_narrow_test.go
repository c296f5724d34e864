package main

import (
	"strings"
	"testing"

	"ethos/pkg/sandbox"
)

// TestWithout: what a command of a session goes without is what the session's
// table has and that of the profile has not.
func TestWithout(t *testing.T) {
	table := func(text string) (list []sandbox.Entry) {
		access := map[string]sandbox.Access{"-": sandbox.Hidden, "r": sandbox.ReadOnly, "w": sandbox.ReadWrite, "p": sandbox.Private}
		for _, field := range strings.Fields(text) {
			path, how, _ := strings.Cut(field, "=")
			list = append(list, sandbox.Entry{Path: path, Access: access[how], Exists: !strings.HasSuffix(path, "-missing")})
		}
		return list
	}
	for _, c := range []struct{ have, want, write, read string }{
		{"/usr=r /tmp=p /w=w", "/usr=r /tmp=p /w=w", "", ""},
		{"/usr=r /tmp=p /w=w", "/usr=r /tmp=p /w=r", "/w", ""},
		{"/usr=r /opt=r /w=w", "/usr=r /w=r", "/w", "/opt"},
		{"/h=p /h/sdk=r /w=w", "/h=p /w=w", "", "/h/sdk"},
		{"/w=w /w/.git=r", "/w=r /w/.git=-", "/w", "/w/.git"},
		{"/w=w /w/.git=r", "/w=r", "/w", ""},
		{"/w=w", "/w=w /w/x=r /w/y=- /w/z-missing=-", "/w/x", "/w/y"},
		{"/w=r", "/w=w /o=r", "", ""},
		{"/tmp=p /w=w", "/w=w", "", "/tmp"},
	} {
		write, read := without(table(c.have), table(c.want))
		if strings.Join(write, " ") != c.write || strings.Join(read, " ") != c.read {
			t.Errorf("%s without %s: write %q, read %q", c.have, c.want, write, read)
		}
	}
}
