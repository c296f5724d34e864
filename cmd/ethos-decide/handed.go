package main

import (
	"io"
	"os"
	"syscall"

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

// input returns what is left of standard input.
func (h handed) input(stdin io.Reader) io.Reader {
	if h.Unread == 0 {
		return stdin
	}
	syscall.CloseOnExec(h.Unread) // no child of this program needs it
	return io.MultiReader(os.NewFile(uintptr(h.Unread), "unread input"), stdin)
}
