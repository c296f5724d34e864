//go:build !noegress

package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

func quick(args []string) cli.Command { return fastPath(args) }

// handOver does nothing: this program has everything.
func handOver(context.Context, *cli.System, *sandbox.Spec) error { return nil }

// supervisor returns the program that holds sessions.
func supervisor() (string, error) { return "/proc/self/exe", nil }
