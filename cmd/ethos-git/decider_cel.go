//go:build !nocel

package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/gitguard"
)

// decider returns the sibling: with the policies in it, this program would have
// to load CEL for each command, which takes longer than to start ethos-decide
// for some of them.
func decider(_ *cli.System, sibling gitguard.Sibling) gitguard.Decider { return sibling }
