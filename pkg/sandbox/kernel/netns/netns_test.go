package netns

import (
	"errors"
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
