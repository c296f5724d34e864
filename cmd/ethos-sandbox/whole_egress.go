//go:build !noegress

package main

import (
	"context"
	"slices"
	"strings"

	"ethos/pkg/catalog/shipped"
	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

// handOver does nothing: this program has everything.
func handOver(context.Context, *cli.System, *sandbox.Spec) error { return nil }

// supervisor returns the program that holds sessions.
func supervisor() (string, error) { return "/proc/self/exe", nil }

// networked lists the catalog tools with network access that a program may be.
func networked(program string) (tools []string) {
	if strings.Contains(program, "/") { // a file of the workspace could have any name
		return nil
	}
	for _, t := range shipped.Tools() {
		if t.Capabilities.RequiresNetwork && slices.ContainsFunc(t.Forms, func(f shipped.Form) bool { return f.Program == program }) {
			tools = append(tools, t.ID)
		}
	}
	return tools
}
