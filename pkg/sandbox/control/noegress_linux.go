//go:build noegress

package control

import (
	"context"

	"ethos/pkg/sandbox/plan"
)

// noEgress stands for the control of names in a program built with the tag noegress. It
// refuses every plan that allows names.
type noEgress struct {
	*Job
	defaults
}

func newEgress(j *Job) *noEgress { return &noEgress{Job: j} }

func (c *noEgress) Name() string { return "egress" }

func (c *noEgress) Requested() (string, bool) { return "", c.Job.Plan.Egress != nil }

func (c *noEgress) Prepare(context.Context) error {
	if c.Job.Plan.Egress == nil {
		return nil
	}
	return plan.Refuse(plan.CodeUnsupported, "use the program that is built without the tag noegress: ethos-egress", "this program cannot make names reachable")
}
