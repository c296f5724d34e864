//go:build nocel

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"

	_ "ethos/cmd/ethos-decide/early" // has a session do it
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/record"
)

func main() {
	debug.SetGCPercent(400) // as in ethos-cel
	cli.Main(cli.Program{Name: "ethos-decide", Quick: quickly, Failed: failed})
}

// quickly parses the plain form, which this program has. Any other becomes ethos-cel.
func quickly(args []string) cli.Command {
	c := handed{Args: args}.quick(args)
	if c == nil {
		return &decideWhole{handed{Args: args}}
	}
	if c.ownPolicies() {
		return &decideWhole{c.handed}
	}
	return c
}

// ownPolicies reports whether files of policies, which need CEL, are to be expected. ethos-cel then
// starts at once, while ethos-facts still works. The answer does not change what is decided.
func (c *decideCmd) ownPolicies() bool {
	if _, err := os.Lstat(filepath.Join(ceiling.Dir, ceiling.Policies)); err == nil || len(c.Policy) > 0 {
		return true
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Lstat(filepath.Join(dir, decide.ConsumerFile)); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return false
}

// decideWhole becomes ethos-cel before anything is read.
type decideWhole struct{ handed }

func (w *decideWhole) Run(ctx context.Context, sys *cli.System) error {
	return w.become(ctx, sys)
}

// unread keeps what is read and not done, all of it or from the current line on, for ethos-cel.
func unread(whole bool) *record.Unread { return &record.Unread{Whole: whole} }
