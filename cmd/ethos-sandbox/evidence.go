package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/inherited"
	"ethos/pkg/outfile"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// open opens the destination of the evidence before anything runs; nil means none.
func (e *evidenceFlags) open(ctx context.Context) (io.WriteCloser, error) {
	to, err := e.file(ctx)
	if err != nil || e.record == nil {
		return to, err
	}
	e.record.next = to
	return e.record, nil
}

func (e *evidenceFlags) file(ctx context.Context) (io.WriteCloser, error) {
	if e.Evidence == "" {
		return nil, nil
	}
	number, isFD := strings.CutPrefix(e.Evidence, "fd:")
	if !isFD {
		return create(ctx, e.Evidence)
	}
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("%q is not fd:N with N above 2", e.Evidence)
	}
	switch f := inherited.File(fd, e.Evidence); {
	case f == nil:
		return nil, fmt.Errorf("descriptor %d is not open", fd)
	case !inherited.Writable(fd):
		return nil, fmt.Errorf("descriptor %d is not open for writing", fd)
	default:
		return f, nil
	}
}

// report writes the result as one line of JSON.
func report(to io.WriteCloser, out sandbox.Outcome, failure error, tree *watch) error {
	if to == nil {
		return nil
	}
	result := out.Result(record.Capture{})
	if failure != nil {
		result = sandbox.DeniedBy(failure, out.Evidence)
	} else {
		tree.end(&result)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	_, err = to.Write(append(text, '\n'))
	return errors.Join(err, to.Close())
}

// create prepares a file of evidence, which the command cannot forge: outfile.Later. The open of a
// FIFO waits for a reader: fifo(7). A signal ends the wait.
func create(ctx context.Context, path string) (io.WriteCloser, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return outfile.Later(path)
	}
	opened := make(chan struct{})
	var file io.WriteCloser
	var err error
	go func() {
		defer close(opened)
		file, err = outfile.Later(path)
	}()
	select {
	case <-opened:
		return file, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reported calls report, which writes the evidence to a file; nil is none. A signal that comes while
// nobody reads the evidence ends the wait. Signals that came earlier were the command's.
func reported(to io.Writer, signals <-chan os.Signal, report func() error) error {
	if to == nil {
		return nil
	}
	for len(signals) > 0 {
		<-signals
	}
	done := make(chan error, 1)
	go func() { done <- report() }()
	select {
	case err := <-done:
		return err
	case <-signals:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(cli.Patience):
		return errors.New("nobody read it before a signal came")
	}
}
