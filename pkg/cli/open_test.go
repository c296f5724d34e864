//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenEnds ends the wait for who writes to a named pipe, and opens what is
// there.
func TestOpenEnds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	why := errors.New("terminated")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := Open(ctx, name)
		done <- err
	}()
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("a pipe without a writer: %v", err)
	}
	if writer, err := os.OpenFile(name, os.O_RDWR, 0); err != nil {
		t.Error(err)
	} else {
		defer writer.Close()
	}
	if f, err := Open(t.Context(), name); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if _, err := Open(t.Context(), name+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
