//go:build !nocel

package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/gitguard"
)

// decider returns the sibling: with policies, this build would have CEL, too, and
// each command would wait for CEL to be loaded, also one that only reads.
func decider(_ *cli.System, sibling gitguard.Sibling) gitguard.Decider { return sibling }
