package cli

import (
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ethos/pkg/record"
)

type helpFlag bool

// BeforeReset prints the help of the command that was named; where none was, that of the default one, and which others there are.
func (helpFlag) BeforeReset(ctx *kong.Context, p Program, sys *System) error {
	err := ctx.PrintUsage(false)
	if chosen := ctx.Selected(); err == nil && chosen != nil && !slices.Contains(ctx.Args, chosen.Name) {
		_, err = io.WriteString(sys.Stdout, others(p, ctx.Model.Node, chosen))
	}
	return orDone(err)
}

// others lists the commands beside the default one.
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

func (p Program) version() string { return p.Name + " " + Version() + "\n" }

type manFlag bool

// BeforeReset prints the manual page.
func (manFlag) BeforeReset(ctx *kong.Context, p Program, sys *System) error {
	sys.warnLost(Filter)
	_, err := io.WriteString(sys.Stdout, manual(p, ctx.Model))
	return orDone(err)
}

type completionFlag string

// BeforeApply prints the script for the shell that was named, also where the command line lacks a command. The flag's
// value is not in its field yet.
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

// Schemer is implemented by a command whose lines are not those of the pipe.
type Schemer interface{ Schema() []byte }

// BeforeReset prints the schema of the lines of the command that was named, which
// for most is that of the pipe.
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

// release is the version of a build that `make dist` made, which the linker writes here; "" in any other.
var release string

// Version describes this build: the release, else module version or revision, from the build information the linker
// embeds; then Go version and platform.
func Version() string {
	version := release
	if version == "" {
		version = "devel"
		if info, ok := debug.ReadBuildInfo(); ok {
			version = buildVersion(info)
		}
	}
	return fmt.Sprintf("%s (%s %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision + modified
}
