//go:build !nocel

package policy

import (
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"ethos/pkg/record"
)

// functionOptions declares the functions of the policy language. All are strict, total over their types but for a malformed pattern, and pure.
//
//	glob(pattern, value) bool             doublestar match of the whole value
//	names([patterns], word) bool          the word names a path among the patterns
//	under(path, dir) bool                 path is dir or below it, by text
//	runs(shell, name) bool                the script runs the command
//	runs(shell, name, [words]) bool       … with all of words among its arguments, in that order
//	executes(shell, path) bool            the script runs the file, itself or by an interpreter
//	option(command, letters, [names]) bool   a short or long option is given
//	unresolved(command) bool              a word of it is not static
//	touches(files | reads | writes, [patterns]) bool   a path may be among the patterns
//	scratch(path) bool                    build output, or temporary
//	domain(host, pattern) bool            example.com, *.example.com
//	host(url) string                      "" when there is none
//	hosts(command) list(string)           the machines that it names
//	remote(command) bool                  it reaches another machine, or its words do not show which
//	unlisted(shell, git, network) list(string)   the places that the commands name and the lists do not allow
//	unseen(shell, git) list(string)       what connects to a place that its words do not show
//	loopback(host) bool                   this machine
func functionOptions(s *schema) []cel.EnvOption {
	var (
		text    = types.StringType
		texts   = types.NewListType(types.StringType)
		truth   = types.BoolType
		shell   = s.celType(reflect.TypeFor[record.Shell]())
		command = s.celType(reflect.TypeFor[record.Command]())
		files   = types.NewListType(s.celType(reflect.TypeFor[record.File]()))
		git     = types.NewListType(s.celType(reflect.TypeFor[record.Git]()))
		network = s.celType(reflect.TypeFor[record.Network]())
		uses    = types.NewListType(s.celType(reflect.TypeFor[record.PathUse]()))
	)
	args := func(of ...*types.Type) []*types.Type { return of }
	return []cel.EnvOption{
		cel.Function("glob", cel.Overload("glob_string_string", args(text, text), truth, cel.BinaryBinding(celGlob))),
		cel.Function("names", cel.Overload("names_list_string", args(texts, text), truth, cel.BinaryBinding(celNames))),
		cel.Function("under", cel.Overload("under_string_string", args(text, text), truth, cel.BinaryBinding(celUnder))),
		cel.Function("scratch", cel.Overload("scratch_string", args(text), truth, cel.UnaryBinding(celScratch))),
		cel.Function("domain", cel.Overload("domain_string_string", args(text, text), truth, cel.BinaryBinding(celDomain))),
		cel.Function("host", cel.Overload("host_string", args(text), text, cel.UnaryBinding(celHost))),
		cel.Function("hosts", cel.Overload("hosts_command", args(command), texts, cel.UnaryBinding(celHosts))),
		cel.Function("remote", cel.Overload("remote_command", args(command), truth, cel.UnaryBinding(celRemote))),
		cel.Function("unlisted", cel.Overload("unlisted_shell_git_network", args(shell, git, network), texts, cel.FunctionBinding(celUnlisted))),
		cel.Function("unseen", cel.Overload("unseen_shell_git", args(shell, git), texts, cel.BinaryBinding(celUnseen))),
		cel.Function("loopback", cel.Overload("loopback_string", args(text), truth, cel.UnaryBinding(celLoopback))),
		cel.Function("runs",
			cel.Overload("runs_shell_string", args(shell, text), truth, cel.FunctionBinding(celRuns)),
			cel.Overload("runs_shell_string_list", args(shell, text, texts), truth, cel.FunctionBinding(celRuns))),
		cel.Function("executes", cel.Overload("executes_shell_string", args(shell, text), truth, cel.BinaryBinding(celExecutes))),
		cel.Function("option", cel.Overload("option_command_string_list", args(command, text, texts), truth, cel.FunctionBinding(celOption))),
		cel.Function("unresolved", cel.Overload("unresolved_command", args(command), truth, cel.UnaryBinding(celUnresolved))),
		cel.Function("touches",
			cel.Overload("touches_files_list", args(files, texts), truth, cel.BinaryBinding(celTouches)),
			cel.Overload("touches_uses_list", args(uses, texts), truth, cel.BinaryBinding(celTouches))),
	}
}

func celGlob(pattern, value ref.Val) ref.Val {
	return truthOr(matchGlob(string(pattern.(types.String)), string(value.(types.String))))
}

func celNames(patterns, word ref.Val) ref.Val {
	return truthOr(namesAny(stringsOf(patterns), string(word.(types.String))))
}

func celUnder(p, dir ref.Val) ref.Val {
	return types.Bool(isUnder(string(p.(types.String)), string(dir.(types.String))))
}

func celScratch(path ref.Val) ref.Val { return types.Bool(isScratch(string(path.(types.String)))) }

func celDomain(host, pattern ref.Val) ref.Val {
	return types.Bool(matchDomain(string(host.(types.String)), string(pattern.(types.String))))
}

func celHost(url ref.Val) ref.Val { return types.String(hostOf(string(url.(types.String)))) }

func celHosts(command ref.Val) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, hostsOf(command.(*object).pointer().(*record.Command)))
}

func celRemote(command ref.Val) ref.Val {
	return types.Bool(isRemote(command.(*object).pointer().(*record.Command)))
}

func celUnlisted(args ...ref.Val) ref.Val {
	shell, network := args[0].(*object).pointer().(*record.Shell), args[2].(*object).pointer().(*record.Network)
	return types.NewStringList(types.DefaultTypeAdapter, unlisted(shell, gitOf(args[1]), network))
}

func celUnseen(shell, git ref.Val) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, unseen(shell.(*object).pointer().(*record.Shell), gitOf(git)))
}

// gitOf converts a list whose elements the type checker has proven to be git commands.
func gitOf(list ref.Val) (all []record.Git) {
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		all = append(all, *it.Next().(*object).pointer().(*record.Git))
	}
	return all
}

func celLoopback(host ref.Val) ref.Val { return types.Bool(isLoopback(string(host.(types.String)))) }

func celRuns(args ...ref.Val) ref.Val {
	var wanted []string
	if len(args) == 3 {
		wanted = stringsOf(args[2])
	}
	return types.Bool(runsCommand(args[0].(*object).pointer().(*record.Shell), string(args[1].(types.String)), wanted))
}

func celExecutes(shell, path ref.Val) ref.Val {
	return types.Bool(executesFile(shell.(*object).pointer().(*record.Shell), string(path.(types.String))))
}

func celOption(args ...ref.Val) ref.Val {
	command := args[0].(*object).pointer().(*record.Command)
	return types.Bool(hasOption(command, string(args[1].(types.String)), stringsOf(args[2])))
}

func celUnresolved(command ref.Val) ref.Val {
	return types.Bool(isUnresolved(command.(*object).pointer().(*record.Command)))
}

func celTouches(list, patterns ref.Val) ref.Val {
	wanted := stringsOf(patterns)
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		if hit, err := touchesOne(it.Next().(*object).pointer(), wanted); hit || err != nil {
			return truthOr(hit, err)
		}
	}
	return types.False
}

func truthOr(truth bool, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(truth)
}

// stringsOf converts a list whose elements the type checker has proven to be strings.
func stringsOf(list ref.Val) []string {
	if all, ok := list.Value().([]string); ok { // a constant
		return all
	}
	var all []string
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		all = append(all, string(it.Next().(types.String)))
	}
	return all
}

// sizeOf returns the number of strings or paths that a call of one of ethos's functions examines,
// for its cost.
func sizeOf(v ref.Val) uint64 {
	switch v := v.(type) {
	case traits.Sizer:
		n, _ := v.Size().(types.Int)
		return uint64(n)
	case *object:
		if shell, ok := v.pointer().(*record.Shell); ok {
			return uint64(len(shell.Commands))
		}
	}
	return 1
}
