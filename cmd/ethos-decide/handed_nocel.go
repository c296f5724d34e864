//go:build nocel

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

func main() {
	debug.SetGCPercent(400) // as in ethos-cel
	cli.Main(cli.Program{Name: "ethos-decide", Quick: func(args []string) cli.Command {
		c := handed{Args: args}.quick(args)
		if c == nil {
			return &decideWhole{handed{Args: args}, slices.Contains(args, "--reply")}
		}
		if c.ownPolicies() {
			return &decideWhole{c.handed, c.Reply != ""}
		}
		return c
	}})
}

// ownPolicies reports whether files of policies, which need CEL, are to be expected. ethos-cel then
// starts at once, while ethos-facts still works. The answer does not change what is decided.
func (c *decideCmd) ownPolicies() bool {
	if _, err := os.Lstat(filepath.Join(ceiling.Dir, ceiling.Policies)); err == nil || len(c.Policy) > 0 {
		return true
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Lstat(filepath.Join(dir, consumerFile)); err == nil {
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
type decideWhole struct {
	handed
	reply bool
}

// Run implements cli.Command.
func (w *decideWhole) Run(ctx context.Context, sys *cli.System) error {
	err := w.become(ctx, sys)
	if w.reply {
		sys.Fail(withHint(err), "")
		return cli.Exit(cli.Usage) // 2: the status that blocks
	}
	return err
}

// become returns only with an error.
func (h handed) become(ctx context.Context, sys *cli.System) error {
	if err := ctx.Err(); err != nil { // a signal that was caught: the program after this one does not get it
		return err
	}
	return cli.Become(sys, whole, h)
}

// handsOver lets the program become ethos-cel at the first expression that must be evaluated.
func (c *decideCmd) handsOver(ctx context.Context, sys *cli.System, filter *record.Filter, d *decider) {
	filter.Unread = &record.Unread{Whole: c.Reply != ""}
	policy.HandOver = func() {
		left := handed{Args: c.handed.Args, Past: filter.Unread.Done, Blocked: d.blocked, Told: slices.Collect(maps.Keys(d.library.told))}
		var err error
		if left.Unread, err = cli.Inheritable(filter.Unread.Text); err == nil {
			err = left.become(ctx, sys)
		}
		if c.Reply != "" {
			err = c.answer(sys, hook.Refuse(c.Reply, withHint(err)))
		}
		sys.End(cli.Filter, err)
	}
}

// withHint returns an error's text with its hint, because a hook's answer has one text.
func withHint(err error) string {
	var fault *cli.Error
	if errors.As(err, &fault) && fault.Hint != "" {
		return err.Error() + "; " + fault.Hint
	}
	return err.Error()
}

// runExamples is reached with a policy that has an expression, which was compiled before.
func runExamples(*policy.Set) error {
	policy.HandOver()
	return errors.New("there is no CEL")
}
