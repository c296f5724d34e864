//go:build nocel

package decide

import "ethos/pkg/policy"

// RunExamples panics: a policy with examples has an expression, which was
// compiled before.
func RunExamples(*policy.Set) error {
	panic(policy.ErrNeedsCEL)
}
