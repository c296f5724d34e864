package policy

import (
	_ "embed"
	"slices"
)

// The packs that always decide.
const (
	Core     = "core"
	Services = "services"
)

//go:generate go test -run "^(TestShippedIsCurrent|TestPage)$" -update .

// compiled holds the checked expressions of the shipped policies, one after the other, packed.
//
//go:embed compiled.bin
var compiled string

// shippedPolicy is a policy of this program, compiled ahead. Examples are left in the text of the pack.
type shippedPolicy struct {
	policy   Policy
	need     need
	reads    []string
	digest   string
	from, to int // its checked expression in compiled
}

// Packs names the shipped packs, core first.
func Packs() []string { return slices.Clone(shippedPacks) }

// ShippedPrinciples lists the principles that shipped policies rest on.
func ShippedPrinciples() []Principle { return slices.Clone(shippedPrinciples) }

func isShipped(id string) bool {
	return slices.ContainsFunc(shippedPolicies, func(p shippedPolicy) bool { return p.policy.ID == id })
}

// shippedRules makes the rules of one pack; nothing is unpacked before it is evaluated.
func shippedRules(pack string) []*rule {
	var rules []*rule
	for i := range shippedPolicies {
		if s := &shippedPolicies[i]; s.policy.Pack == pack {
			rules = append(rules, &rule{Policy: s.policy, need: s.need, reads: s.reads, digest: s.digest, expr: expression{packed: compiled[s.from:s.to]}})
		}
	}
	return rules
}
