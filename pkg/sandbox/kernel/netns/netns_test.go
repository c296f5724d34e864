package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

const (
	devHeading = "Inter-|   Receive\n face |bytes\n"
	trieUp     = "Main:\n  +-- 127.0.0.0/8 2 0 2\n        |-- 127.0.0.1\n           /32 host LOCAL\n"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		dev, trie string
		names     []string
		up        bool
	}{
		"new":     {devHeading + "    lo:       0       0\n", "", []string{"lo"}, false},
		"up":      {devHeading + "    lo:       0       0\n", trieUp, []string{"lo"}, true},
		"more":    {devHeading + "    lo: 0\n  eth0: 1\n tunl0: 0\n", trieUp, []string{"lo", "eth0", "tunl0"}, true},
		"no gap":  {devHeading + "eth0:12345 1\n", "", []string{"eth0"}, false},
		"nothing": {devHeading, "", []string{}, false},
		"empty":   {"", "", []string{}, false},
	} {
		read := func(path string) ([]byte, error) {
			switch path {
			case "/proc/7/net/dev":
				return []byte(c.dev), nil
			case "/proc/7/net/fib_trie":
				return []byte(c.trie), nil
			}
			return nil, fs.ErrNotExist
		}
		got, err := Read(7, read)
		if err != nil || !slices.Equal(got.Interfaces, c.names) || got.LoopbackUp != c.up {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestReadFails: what cannot be read is an error, not an empty namespace.
func TestReadFails(t *testing.T) {
	for _, missing := range []string{"/proc/7/net/dev", "/proc/7/net/fib_trie"} {
		_, err := Read(7, func(path string) ([]byte, error) {
			if path == missing {
				return nil, fs.ErrPermission
			}
			return []byte(devHeading), nil
		})
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

func TestLocalNetworks(t *testing.T) {
	files := map[string]string{
		"/proc/7/net/fib_trie": trieUp + "     |-- 198.18.0.0\n        /15 host LOCAL\n     |-- 10.0.0.0\n        /8 link UNICAST\n     |-- 0.0.0.0\n        /0 host LOCAL\n",
		"/proc/7/net/ipv6_route": "01000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000400 00000001 00000000 80200001       lo\n" +
			"fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\nshort\n",
	}
	read := func(path string) ([]byte, error) {
		text, ok := files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	for _, c := range []struct{ without, want string }{
		{"", "[127.0.0.1/32 198.18.0.0/15 0.0.0.0/0 100::/64]"},
		{"/proc/7/net/ipv6_route", "[127.0.0.1/32 198.18.0.0/15 0.0.0.0/0]"},
	} {
		delete(files, c.without)
		if got, err := LocalNetworks(7, read); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("without %q: %v, %v, want %s", c.without, got, err, c.want)
		}
	}
	if _, err := LocalNetworks(8, read); err == nil {
		t.Error("what cannot be read is no network")
	}
}
