//go:build !linux

package cmdserver

import (
	"context"
	"errors"
	"os"

	"ethos/pkg/cli"
)

// Command refuses: sessions need Linux.
func Command(context.Context, *cli.System, string, func([]string) cli.Program) error {
	return cli.Errorf(cli.CannotEnforce, "leave it out: the program works without it", "sessions, which it is for, need Linux")
}

// Process is a server that runs.
type Process struct{}

// Start always fails here.
func Start(string, *os.File) (*Process, error) { return nil, errors.New("sessions need Linux") }

// Killed never says so here.
func (*Process) Killed() bool { return false }

// End does nothing.
func (*Process) End() {}
