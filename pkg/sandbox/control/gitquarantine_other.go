//go:build !linux

package control

import (
	"context"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// Recover finds nothing, because no command runs on this system.
func Recover(context.Context, []string) []record.Denial { return nil }

// MakeOwn creates nothing on this system.
func MakeOwn(*plan.Plan) (bool, error) { return false, nil }
