//go:build !linux

package control

import (
	"context"

	"ethos/pkg/record"
)

// Recover finds nothing: no command runs on this system.
func Recover(context.Context, []string) []record.Denial { return nil }
