//go:build !nomodel

package cli

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ethos/pkg/record"
)

type helpFlag bool

// BeforeReset prints the help of the named command. If no command is named, it prints the help of
// the default command and lists the other commands.
func (helpFlag) BeforeReset(ctx *kong.Context, p Program, sys *System) error {
	err := ctx.PrintUsage(false)
	if chosen := ctx.Selected(); err == nil && chosen != nil && !slices.Contains(ctx.Args, chosen.Name) {
		_, err = io.WriteString(sys.Stdout, others(p, ctx.Model.Node, chosen))
	}
	return orDone(err)
}

// others lists the commands other than the default one.
func others(p Program, top, chosen *kong.Node) string {
	var out strings.Builder
	for _, c := range top.Children {
		if c != chosen && !c.Hidden {
			fmt.Fprintf(&out, "  %-9s %s\n", c.Name, c.Help)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "\nOther commands (" + p.called() + " COMMAND --help):\n" + out.String()
}

type versionFlag bool

// BeforeReset prints one line.
func (versionFlag) BeforeReset(p Program, sys *System) error {
	return orDone(sys.Print(p.version()))
}

type manFlag bool

func (manFlag) BeforeReset(ctx *kong.Context, p Program, sys *System) error {
	sys.warnLost(Filter)
	_, err := io.WriteString(sys.Stdout, manual(p, ctx.Model))
	return orDone(err)
}

type completionFlag string

// BeforeApply prints the script for the named shell, even if the command line lacks a command. The
// flag's field is not set yet.
func (completionFlag) BeforeApply(ctx *kong.Context, at *kong.Path, p Program, sys *System) error {
	script, err := completion(fmt.Sprint(ctx.FlagValue(at.Flag)), p, ctx.Model)
	if err != nil {
		return err
	}
	sys.warnLost(Filter)
	_, err = io.WriteString(sys.Stdout, script)
	return orDone(err)
}

type schemaFlag bool

// Schemer is implemented by a command whose output lines are not pipe records.
type Schemer interface{ Schema() []byte }

// BeforeReset prints the schema of the named command's output lines; for most commands that is the
// schema of the pipe.
func (schemaFlag) BeforeReset(ctx *kong.Context, sys *System) error {
	sys.warnLost(Filter)
	if chosen := ctx.Selected(); chosen != nil {
		if own, ok := chosen.Target.Addr().Interface().(Schemer); ok {
			_, err := sys.Stdout.Write(own.Schema())
			return orDone(err)
		}
	}
	text, err := fs.ReadFile(record.Schemas(), record.LineSchema)
	if err != nil {
		return err
	}
	_, err = sys.Stdout.Write(text)
	return orDone(err)
}

func orDone(err error) error {
	if err != nil {
		return err
	}
	return errDone
}
