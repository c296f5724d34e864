package cli

import (
	"context"
	"os"
)

// Open opens a file for reading. For a named pipe without a writer it waits
// until ctx is done at the latest, because open(2) on a pipe restarts after a
// signal.
func Open(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := os.Open(name)
		select {
		case done <- opened{file, err}:
		case <-ctx.Done():
			if err == nil {
				file.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
