//go:build !nomodel

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// common holds the flags that every program has.
type common struct {
	Help       helpFlag       `short:"h" help:"Show this help and exit."`
	Version    versionFlag    `help:"Print the version and exit."`
	Man        manFlag        `help:"Print the manual page in roff and exit."`
	Completion completionFlag `placeholder:"SHELL" help:"Print the completion script for bash, zsh or fish and exit."`
	Schema     schemaFlag     `help:"Print the JSON Schema of the lines that flow through the pipe and exit."`
}

// errDone is returned by a flag that has done all the work.
var errDone = errors.New("done")

// parse parses args with the model and runs the command that they name.
func (p Program) parse(ctx context.Context, sys *System, args []string, kind *Kind) error {
	model, err := p.model(sys)
	if err != nil {
		return err
	}
	parsed, err := model.Parse(args)
	if errors.Is(err, errDone) {
		return nil
	}
	if err != nil {
		*kind = p.kindOf(parseContext(err))
		return p.usage(err, *kind)
	}
	*kind = p.kindOf(parsed)
	if err := notEmpty(parsed); err != nil {
		return p.usage(err, *kind)
	}
	if err := sys.placed(*kind); err != nil {
		return err
	}
	sys.warnLost(*kind)
	endsUnread(ctx, *kind)
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(sys)
	var flag UnknownFlag
	if fault := (*Error)(nil); errors.As(err, &flag) && errors.As(err, &fault) {
		fault.Hint = meantFlag(string(flag), parsed.Selected()) + fault.Hint
	}
	return err
}

// Selected parses args with the model, runs nothing, and returns the selected command. Tests of
// [Program.Quick] compare against it.
func (p Program) Selected(sys *System, args []string) (any, error) {
	model, err := p.model(sys)
	if err != nil {
		return nil, err
	}
	parsed, err := model.Parse(args)
	if err != nil {
		return nil, err
	}
	return parsed.Selected().Target.Addr().Interface(), nil
}

// parseContext returns how far kong parsed before it refused the arguments, or nil.
func parseContext(err error) *kong.Context {
	var fault *kong.ParseError
	if errors.As(err, &fault) {
		return fault.Context
	}
	return nil
}

// kindOf returns the kind of the named command, else the program's kind.
func (p Program) kindOf(parsed *kong.Context) Kind {
	if parsed != nil {
		for _, step := range parsed.Path {
			if step.Command == nil {
				continue
			}
			if k, ok := step.Command.Target.Addr().Interface().(Kinder); ok {
				return k.Kind()
			}
		}
	}
	return p.Kind
}

// usage returns the error for a command line that kong refused. The caller of a runner would take
// status 2 for the child's status.
func (p Program) usage(err error, kind Kind) error {
	var fault *Error
	var output *fs.PathError // the help, the schema, … could not be written
	if errors.As(err, &fault) || errors.As(err, &output) {
		return err
	}
	status := Usage
	if kind == Runner {
		status = Refused
	}
	message := plainer(lowerFirst(err.Error()))
	if word, ok := unexpectedWord(err); ok {
		message = "unexpected argument " + word
	} else if flag, ok := unexpectedFlag(err); ok {
		message = UnknownFlag(flag).Error()
	}
	named := p.named(parseContext(err))
	hint := cmp.Or(misplaced(parseContext(err), message), p.meant(err)+named+" --help shows the usage")
	if errors.Is(err, errEmpty) {
		hint = "omit the flag, or give it a value: is a variable unset?"
	}
	if message == noCommand {
		hint = "write the command after --: " + named + " -- COMMAND"
	}
	return &Error{Status: status, Err: errors.New(message), Hint: hint}
}

// misplaced returns where to write a flag that stands before the command it belongs to, or "" for
// every other error.
func misplaced(parsed *kong.Context, message string) string {
	var flag, other, command string
	if n, _ := fmt.Sscanf(message, "flag %s applies to the default command %q, not %q", &flag, &other, &command); n < 3 || parsed == nil {
		return ""
	}
	for _, node := range parsed.Model.Children {
		for _, f := range node.Flags {
			if node.Name != command || "--"+f.Name != flag {
				continue
			}
			if !f.IsBool() {
				flag += " " + f.FormatPlaceHolder()
			}
			return "write it after the command: " + node.FullPath() + " " + flag
		}
	}
	return ""
}

// noCommand is the message about a runner that was given nothing to run.
const noCommand = "no command was given"

// plainer rewrites kong's messages about tokens in plain words.
func plainer(message string) string {
	message = strings.Replace(message, `one of "",`, "one of ", 1) // "" stands for a flag that was not given
	if message == `expected "<argv>"` {
		return noCommand
	}
	if missing, ok := strings.CutPrefix(message, `expected "<`); ok {
		return "missing: <" + strings.TrimSuffix(missing, `"`)
	}
	flag, rest, found := strings.Cut(message, ": expected ")
	if given, ok := strings.CutPrefix(rest, "duration but got "); ok {
		given, _, _ = strings.Cut(given, ": time: ")
		return flag + ": " + given + " is not a time such as 90s, 10m or 1h30m"
	}
	if given, ok := strings.CutPrefix(rest, "a valid 64 bit int but got "); ok {
		return flag + ": " + given + " is not a whole number"
	}
	_, got, value := strings.Cut(rest, " value but got ")
	switch {
	case !found || !value:
		return message
	case strings.HasPrefix(got, `"EOL"`):
		return flag + " needs a value"
	}
	token, _, _ := strings.Cut(got, " (")
	return flag + " needs a value, but the next word is " + token
}

func (p Program) model(sys *System) (*kong.Kong, error) {
	var vars kong.Vars
	if p.Vars != nil {
		vars = p.Vars()
	}
	return kong.New(p.Commands,
		kong.Name(p.called()),
		kong.Description(strings.TrimSpace(p.Summary+"\n\n"+p.Description)),
		kong.Writers(sys.Stdout, sys.Stderr),
		kong.NoDefaultHelp(),
		kong.Embed(new(common)),
		kong.Exit(func(int) {}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Bind(p, sys),
		vars,
		kong.KindMapper(reflect.String, kong.MapperFunc(verbatim)),
		kong.NamedMapper("choice", choiceMapper{}),
	)
}

// named is how the command is called that was named before kong refused the arguments.
func (p Program) named(parsed *kong.Context) string {
	if parsed == nil {
		return p.called()
	}
	return lastNamed(parsed).FullPath()
}

// verbatim takes a word as its bytes are. Kong's own mapper passes it through JSON, which puts another name in the place of one that is not UTF-8.
func verbatim(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	target.SetString(token.String())
	return nil
}

// errEmpty is the error of a flag whose value comes from an unset variable. It would
// mean that the flag was not given, and with it a restriction.
var errEmpty = errors.New("the value is empty")

// notEmpty returns an error for a flag that was given an empty text, or a list without a
// text or with an empty one. A flag for which that has a meaning has the tag empty:"yes".
func notEmpty(parsed *kong.Context) error {
	for _, step := range parsed.Path {
		if f := step.Flag; f != nil && f.Tag.Get("empty") != "yes" && isEmpty(f.Target) {
			return fmt.Errorf("--%s: %w", f.Name, errEmpty)
		}
	}
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Slice:
		list, texts := v.Interface().([]string)
		return v.Len() == 0 || texts && slices.Contains(list, "")
	}
	return false
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
