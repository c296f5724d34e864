package policy

import (
	_ "embed"
	"fmt"
	"slices"
)

// The packs that always decide.
const (
	Core     = "core"
	Services = "services"
)

//go:generate go test -run "^(TestShippedIsCurrent|TestPage)$" -update .

// compiled holds the packed checked expressions of the shipped policies, concatenated.
//
//go:embed compiled.bin
var compiled string

// shippedPolicy is a precompiled policy of this program. Its examples are only in the text of the
// pack.
type shippedPolicy struct {
	policy   Policy
	need     need
	reads    []string
	digest   string
	from, to int // its checked expression in compiled
}

// Packs names the shipped packs, core first.
func Packs() []string { return slices.Clone(shippedPacks) }

// KnownPack returns an error that names the shipped packs if name is none of them.
func KnownPack(name string) error {
	if slices.Contains(shippedPacks, name) {
		return nil
	}
	return fmt.Errorf("unknown policy pack %q%s", name, suggestion(name, shippedPacks))
}

// ShippedPrinciples lists the principles of the shipped policies.
func ShippedPrinciples() []Principle { return slices.Clone(shippedPrinciples) }

func isShipped(id string) bool {
	return slices.ContainsFunc(shippedPolicies, func(p shippedPolicy) bool { return p.policy.ID == id })
}

// shippedRules returns the rules of one pack. Expressions are unpacked when they are first
// evaluated.
func shippedRules(pack string) []*rule {
	var rules []*rule
	for i := range shippedPolicies {
		if s := &shippedPolicies[i]; s.policy.Pack == pack {
			rules = append(rules, &rule{Policy: s.policy, need: s.need, reads: s.reads, digest: s.digest, expr: expression{tree: tree{packed: compiled[s.from:s.to]}}})
		}
	}
	return rules
}
