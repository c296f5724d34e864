package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/session"
)

// narrows handles flags that ask for another boundary than the session's: it
// applies the restrictions that are possible for a single command, and refuses
// the rest.
func (j *joining) narrows(sys *cli.System, name string, theirs sandbox.Spec) error {
	if j.given.Profile != "" {
		return j.narrowsTo(sys, name, theirs)
	}
	rest := shared(&j.given, &j.asked)
	j.narrow = sandbox.Narrow{NoNetwork: rest.Net == "none", DenyWrite: absolute(sys.Dir, rest.DenyWrite), DenyRead: absolute(sys.Dir, rest.DenyRead)}
	if readable := absolute(sys.Dir, rest.Ro); len(readable) > 0 {
		plan, err := planIn(theirs)
		if err != nil {
			return refused(err, cli.Refused)
		}
		for _, path := range readable {
			if sandbox.Covering(plan.Paths, path).Access == sandbox.Hidden {
				return notTheSame(name)
			}
		}
		j.narrow.DenyWrite = append(j.narrow.DenyWrite, readable...)
	}
	rest.DenyWrite, rest.DenyRead, rest.Ro, rest.Workspace = nil, nil, nil, "" // which is the session's
	if rest.Net == "none" {
		rest.Net = ""
	}
	if !rest.None() {
		return notTheSame(name)
	}
	have, err := planIn(theirs)
	if err != nil {
		return refused(err, cli.Refused)
	}
	if !j.narrow.NoNetwork && have.Network != "none" || sandbox.CheckNarrow(have, j.narrow) == nil {
		return nil
	}
	flags := j.given
	flags.Profile, flags.Env = j.asked.Flags.Profile, slices.Concat(j.asked.Flags.Env, j.given.Env)
	_, less, _, err := j.within(sys, flags, have)
	j.less, j.apart = &less, true
	return err
}

// within returns the spec for flags alone, and within the session, with its plan.
// The variables that the flags name are those of a command, which may have its own.
// have is the session's plan.
func (j *joining) within(sys *cli.System, flags boundary.Flags, have *sandbox.Plan) (alone, less sandbox.Spec, want *sandbox.Plan, err error) {
	write, read, err := j.denyBelow(sys, &flags, have)
	if err != nil {
		return alone, less, nil, err
	}
	child := askedFor(sys, &flags, j.asked.PlainGit)
	if alone, err = child.spec(sys.Environ); err != nil {
		return alone, less, nil, err
	}
	child.Parent = &j.asked
	if less, err = child.spec(sys.Environ); err != nil {
		return alone, less, nil, err
	}
	less.Asked.Env = alone.Asked.Env
	if want, err = planIn(less); err != nil {
		return alone, less, nil, refused(err, cli.Refused)
	}
	for _, e := range want.Paths {
		if e.Access == sandbox.ReadWrite && below(e.Path, write) || (e.Access == sandbox.ReadWrite || e.Access == sandbox.ReadOnly) && below(e.Path, read) {
			err = cli.Errorf(cli.Refused, "deny paths that do not contain it", "%s cannot be denied: the boundary needs it, and it lies below a path that is", e.Path)
		}
	}
	return alone, less, want, err
}

// denyBelow adds to flags what the session may write below a path that they do not
// let the command write: the deeper path would win. It returns the paths that they
// do not let the command write, and read.
func (j *joining) denyBelow(sys *cli.System, flags *boundary.Flags, have *sandbox.Plan) (write, read []string, err error) {
	child := askedFor(sys, flags, j.asked.PlainGit)
	spec, err := child.spec(sys.Environ)
	if err != nil {
		return nil, nil, err
	}
	if write, err = spec.Places(sandbox.HostFiles{}, slices.Concat(spec.DenyWritePaths, spec.ReadPaths)); err != nil {
		return nil, nil, refused(err, cli.Refused)
	}
	if read, err = spec.Places(sandbox.HostFiles{}, spec.DenyReadPaths); err != nil {
		return nil, nil, refused(err, cli.Refused)
	}
	flags.Ro, flags.DenyWrite = slices.Clone(flags.Ro), slices.Clone(flags.DenyWrite)
	for _, e := range have.Paths {
		if e.Access != sandbox.ReadWrite || !below(e.Path, write) || below(e.Path, read) {
			continue
		}
		flags.DenyWrite = append(flags.DenyWrite, e.Path)
		if e.Exists {
			flags.Ro = append(flags.Ro, e.Path)
		}
	}
	return write, read, nil
}

// below reports whether a path is one of dirs, or lies below one.
func below(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, strings.TrimSuffix(dir, "/")) })
}

// shared returns the flags that apply to a whole session, without the limits and
// the requirement that one command can have itself.
func shared(f *boundary.Flags, theirs *asked) boundary.Flags {
	flags := bounds(f)
	flags.Memory, flags.CPU, flags.Pids = "", "", 0
	if mustCgroup(&flags, theirs) {
		flags.Require = nil
	}
	return flags
}

// mustCgroup reports whether the command alone, and not its session, is to run
// only if a cgroup holds its limits.
func mustCgroup(f *boundary.Flags, theirs *asked) bool {
	return slices.Equal(f.Require, []string{"cgroup"}) && !slices.Contains(theirs.Flags.Require, "cgroup")
}

// ownLimits returns the limits that flags beside --session give one command.
func ownLimits(sys *cli.System, f *boundary.Flags, theirs *asked) (session.Limits, error) {
	flags := boundary.Flags{Memory: f.Memory, CPU: f.CPU, Pids: f.Pids}
	spec, err := flags.Spec(sandbox.HostFiles{}, sys.Dir, sys.Environ, nil)
	if err != nil {
		return session.Limits{}, cli.Errorf(cli.Refused, "ethos-sandbox run --help shows the flags", "%w", err)
	}
	return session.Limits{MemoryBytes: spec.MemoryBytes, CPUPercent: spec.CPUQuotaPercent, Pids: spec.Asked.Pids, Cgroup: mustCgroup(f, theirs)}, nil
}

func absolute(dir string, paths []string) (list []string) {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		list = append(list, filepath.Clean(path))
	}
	return list
}

// planIn makes the plan of a session for the current state of the file system.
func planIn(spec sandbox.Spec) (*sandbox.Plan, error) {
	return sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
}

// narrowsTo handles a profile that grants less than the session: the command
// loses what the session has and the meet of both does not. The limits that
// are less than the session's are the command's own. If this cannot be taken from a command
// of the session, and the meet has no network to share with it, the command gets
// a boundary of its own.
func (j *joining) narrowsTo(sys *cli.System, name string, theirs sandbox.Spec) error {
	have, err := planIn(theirs)
	if err != nil {
		return refused(err, cli.Refused)
	}
	flags := j.given
	flags.Untimed = false
	alone, less, want, err := j.within(sys, flags, have)
	if err != nil {
		return err
	}
	space := capability.Space{Workspace: theirs.Workspace, Home: j.asked.Home}
	wants := alone.Whole()
	wants.Env, wants.RequiresEnv = capability.Set{}.Env, false // each command has its own
	more := slices.DeleteFunc(capability.Widens(space, theirs.Whole(), wants), func(e capability.Excess) bool {
		return strings.HasPrefix(e.Field, "deny_") // what the session denies stays denied
	})
	if len(more) > 0 {
		return cli.Errorf(cli.Refused, "omit --session, or use a session that has it", "the profile %s needs more than session %s has: %v", j.given.Profile, name, more[0])
	}
	j.profile, j.less = j.given.Profile, &less
	j.limits = session.Limits{MemoryBytes: tighter(want.Limits.MemoryBytes, have.Limits.MemoryBytes), CPUPercent: tighter(want.Limits.CPUPercent, have.Limits.CPUPercent), Pids: tighter(want.Limits.Pids, have.Limits.Pids), Cgroup: want.MustCgroup()}
	j.narrow = sandbox.Narrow{NoNetwork: want.Network == "none" && have.Network != "none"}
	j.narrow.DenyWrite, j.narrow.DenyRead = without(have.Paths, want.Paths)
	possible := alike(have, want) && (want.Network == "none" || reflect.DeepEqual(less.Whole().Network, theirs.Whole().Network))
	j.apart = want.Network == "none" && (!possible || sandbox.CheckNarrow(have, j.narrow) != nil)
	if !possible && !j.apart {
		return notTheSame(name)
	}
	return nil
}

// tighter returns the limit that a command wants if its session has a wider one
// or none, else 0.
func tighter(want, have int64) int64 {
	if want > 0 && (have == 0 || want < have) {
		return want
	}
	return 0
}

// alike reports whether two plans are the same in what a command cannot do
// without by itself.
func alike(a, b *sandbox.Plan) bool {
	return slices.Equal(a.Sockets, b.Sockets) && a.Seccomp == b.Seccomp && a.NoUnixSockets == b.NoUnixSockets && a.GitSigning == b.GitSigning &&
		a.NestedUserns == b.NestedUserns && slices.Equal(a.DenyExec, b.DenyExec) && slices.Equal(a.Masks, b.Masks)
}

// without lists what one access table has and another does not: writable paths,
// and visible paths. What the host has below a private directory is not visible
// because of it.
func without(have, want []sandbox.Entry) (write, read []string) {
	for _, e := range slices.Concat(have, want) {
		had, has := sandbox.Covering(have, e.Path).Access, sandbox.Covering(want, e.Path).Access
		switch writes := had == sandbox.ReadWrite || had == sandbox.Private; {
		case !e.Exists || had == sandbox.Hidden || slices.Contains(write, e.Path) || slices.Contains(read, e.Path):
		case has == sandbox.Hidden, has == sandbox.Private && had != sandbox.Private:
			read = append(read, e.Path)
		case has == sandbox.ReadOnly && writes:
			write = append(write, e.Path)
		}
	}
	return write, read
}
