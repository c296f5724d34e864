package probe

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestJudge: one required check that is not yes, and the machine cannot.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes []string
		want     bool
	}{
		"none":    {nil, false},
		"held":    {[]string{Yes, Yes}, true},
		"one not": {[]string{Yes, No}, false},
		"unknown": {[]string{Yes, Unknown}, false},
	} {
		var r Report
		for _, o := range c.outcomes {
			r.add("a check", o, "", "")
		}
		if r.judge(); r.OK != c.want {
			t.Errorf("%s: %v", name, r.OK)
		}
		verdict := map[bool]string{true: "is enforced", false: "cannot be enforced"}[c.want]
		if !strings.Contains(r.Text(), verdict) {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
}

// TestOthers: on a machine that restricts user namespaces root is told so, with the way out, and can confine all the same.
func TestOthers(t *testing.T) {
	ubuntu := func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "/apparmor_restrict_unprivileged_userns") {
			return []byte("1\n"), nil
		}
		return nil, fs.ErrNotExist
	}
	plain := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	for _, c := range []struct {
		uid  int
		read func(string) ([]byte, error)
		want bool
	}{{0, ubuntu, true}, {0, plain, false}, {1000, ubuntu, false}} { // an ordinary user is told by the refusal
		r := Report{UID: c.uid}
		r.add("a check", Yes, "", "")
		r.others(c.read)
		if r.judge(); !r.OK {
			t.Errorf("user %d: not OK", c.uid)
		}
		if got := strings.Contains(r.Text(), "hint: AppArmor restricts user namespaces"); got != c.want {
			t.Errorf("user %d: told %v, want %v\n%s", c.uid, got, c.want, r.Text())
		}
	}
}

func TestUnsignalled(t *testing.T) {
	for name, c := range map[string]struct {
		said Attempt
		came int
		want bool
	}{
		"refused":               {Attempt{"signal": "no such process"}, 0, true},
		"refused, and it came":  {Attempt{"signal": "no such process"}, 1, false},
		"another of the number": {Attempt{"signal": ""}, 0, true},
		"sent, and it came":     {Attempt{"signal": ""}, 1, false},
		"not tried":             {Attempt{}, 0, false},
	} {
		s := &scene{signals: make(chan os.Signal, 1)}
		for range c.came {
			s.signals <- syscall.SIGUSR1
		}
		if got := s.unsignalled(c.said); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
