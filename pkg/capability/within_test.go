package capability

import (
	"slices"
	"testing"
	"time"
)

// TestWithin: limits are the smaller, domains and variables are those of both, and what only one may write the other does not make writable.
func TestWithin(t *testing.T) {
	asked := func(flags ...string) *Asked {
		a, err := FromFlags("workspace", "/w", func(name string) (values []string) {
			for i := 0; i < len(flags); i += 2 {
				if flags[i] == name {
					values = append(values, flags[i+1])
				}
			}
			return values
		})
		if err != nil {
			t.Fatal(err)
		}
		return &a
	}
	parent := asked("allow-domain", "a.example", "rw", "/data", "env", "A=1", "memory", "100M", "timeout", "0", "deny-write", "/w/kept")
	child := asked("allow-domain", "a.example", "allow-domain", "b.example", "rw", "/data/own", "rw", "/other", "env", "A=1", "env", "B=2", "memory", "1G", "timeout", "90s")
	met := Within(Space{Workspace: "/w", Home: "/h"}, parent, child)
	whole := met.Whole()
	if !slices.Equal(whole.Network.AllowDomains, []string{"a.example"}) || !slices.Contains(whole.WritePaths, "/data/own") || slices.Contains(whole.WritePaths, "/other") ||
		slices.Contains(whole.WritePaths, "/data") || !slices.Contains(whole.DenyWritePaths, "/w/kept") {
		t.Errorf("%+v", whole)
	}
	if met.MemoryBytes != 100<<20 || met.Timeout != 90*time.Second {
		t.Errorf("%d bytes, %v", met.MemoryBytes, met.Timeout)
	}
	if whole.Env.Set["B"] != "" {
		t.Errorf("%+v", whole.Env)
	}
	if both := Within(Space{Workspace: "/w", Home: "/h"}, asked("timeout", "0"), asked("timeout", "0")); both.Timeout != NoTimeout {
		t.Errorf("%v", both.Timeout)
	}
}
