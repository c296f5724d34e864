//go:build !linux

package early

import "ethos/pkg/session/dial"

// Take returns nil: sessions need Linux.
func Take() *dial.Sent { return nil }
