package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/flagfield"
	"ethos/pkg/record"
)

// The program is built twice. As ethos-decide it has no CEL, so that a hook's verdict does not wait
// for CEL to be loaded. It evaluates the shipped policies itself. At the first expression that only
// CEL can evaluate, and for every command but the plain form, it becomes the ethos-cel beside it,
// which has everything.

// whole is the name of the program with CEL.
const whole = "ethos-cel"

// handed is what ethos-decide leaves to ethos-cel.
type handed struct {
	Args    []string     // the command line
	Past    record.Tally // of the lines that are done
	Blocked int          // records among them that were not allowed
	Told    []string     // files that were reported
	Unread  int          // a descriptor with what was read of standard input and is not done; 0 for none
}

// quick parses the usual command lines of the plain form, including those of hooks.
func (h handed) quick(args []string) *decideCmd {
	c := &decideCmd{handed: h}
	if rest, ok := flagfield.Plain(c, args); !ok || rest != nil {
		return nil
	}
	return c
}

// handOver lets the program become ethos-cel at a record that needs CEL. It returns only with an
// error.
func (c *decideCmd) handOver(ctx context.Context, sys *cli.System, unread *record.Unread, d *decide.Decider) error {
	left := handed{Args: c.handed.Args, Past: unread.Done, Blocked: d.Blocked, Told: d.Library.Told()}
	var err error
	if left.Unread, err = cli.Inheritable(unread.Text); err != nil {
		return err
	}
	return left.become(ctx, sys)
}

// become returns only with an error.
func (h handed) become(ctx context.Context, sys *cli.System) error {
	if err := ctx.Err(); err != nil { // a signal that was caught: the program after this one does not get it
		return err
	}
	return cli.Become(sys, whole, h)
}

// withHint returns an error's text with its hint, because a hook's answer has one text.
func withHint(err error) string {
	var fault *cli.Error
	if errors.As(err, &fault) && fault.Hint != "" {
		return err.Error() + "; " + fault.Hint
	}
	return err.Error()
}

func (h handed) input(stdin io.Reader) io.Reader {
	if h.Unread == 0 {
		return stdin
	}
	syscall.CloseOnExec(h.Unread) // no child of this program needs it
	return io.MultiReader(os.NewFile(uintptr(h.Unread), "unread input"), stdin)
}
