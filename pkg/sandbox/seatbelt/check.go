package seatbelt

import (
	"fmt"
	"path/filepath"

	"ethos/pkg/sandbox/plan"
)

// Check reads a profile and compares it with the plan at every path of the access table, at what is
// below it, and at every protected name. scratch is the private directory of the command. Nothing
// runs under a profile that says something else than its plan, or that can be read in two ways.
func Check(text string, p *plan.Plan, scratch string) error {
	parsed, err := Parse(text, map[string]string{Scratch: scratch})
	if err != nil {
		return err
	}
	c := &checker{p: p, profile: parsed}
	for _, e := range p.Paths {
		for _, path := range []string{e.Path, e.Path + "/any name"} {
			c.files(path, plan.Covering(p.Paths, path).Access)
		}
	}
	for _, n := range p.ProtectedNames {
		for _, name := range n.Names {
			path := filepath.Join(n.Dir, name)
			c.expect(false, Request{Operation: "file-write-create", Path: path})
			c.expect(false, Request{Operation: "file-write-data", Path: path + "/any name"})
		}
	}
	for _, path := range p.DenyExec {
		c.expect(false, Request{Operation: "process-exec", Path: path + "/any name"})
	}
	for _, path := range p.Sockets {
		c.expect(true, Request{Operation: "network-outbound", Protocol: "unix", Path: path})
	}
	other := Request{Operation: "network-outbound", Protocol: "udp", Host: "192.0.2.1", Port: "53"}
	c.expect(p.Network == "host" && p.Ports == nil, other)
	return c.fault
}

type checker struct {
	p       *plan.Plan
	profile *Parsed
	fault   error // the first difference
}

func (c *checker) files(path string, access plan.Access) {
	c.expect(access != plan.Hidden, Request{Operation: "file-read-data", Path: path})
	if !c.protected(path) {
		c.expect(access == plan.ReadWrite, Request{Operation: "file-write-data", Path: path})
	}
}

// protected reports whether a path is denied by its name alone.
func (c *checker) protected(path string) bool {
	for _, n := range c.p.ProtectedNames {
		for _, name := range n.Names {
			if at := filepath.Join(n.Dir, name); path == at || filepath.Dir(path) == at {
				return true
			}
		}
	}
	return false
}

func (c *checker) expect(want bool, q Request) {
	if got := c.profile.Decide(q); c.fault == nil && (got.InOrder != want || !got.Agreed()) {
		c.fault = fmt.Errorf("profile: %s of %q is allowed: %t, and the plan says %t", q.Operation, q.Path, got.InOrder, want)
	}
}
