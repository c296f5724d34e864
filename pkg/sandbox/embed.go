package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ethos/pkg/record"
)

// Sandbox is a boundary for programs that embed ethos. [New] makes one; each of its
// methods With… returns another one, and leaves it as it is. It may be used
// concurrently.
type Sandbox struct {
	policy  Policy
	program string // ethos-sandbox, or this program where it began with [ExecShim]
	shim    bool
}

// Network is how far the network of a command reaches. The zero value is
// [NetworkDeny].
type Network string

// The networks.
const (
	NetworkDeny     Network = "none"     // no interface is up
	NetworkLoopback Network = "loopback" // a loopback interface of its own
	NetworkProxy    Network = "proxy"    // loopback, and the names of WithDomains
	NetworkOpen     Network = "host"     // the host's
)

// Option changes the boundary that [New] makes.
type Option func(Sandbox) Sandbox

// WithPolicy begins with a policy instead of that of [DefaultPolicy].
func WithPolicy(p Policy) Option {
	return func(s Sandbox) Sandbox { s.policy = p.clone(); return s }
}

// The options of [New] are the methods of [Sandbox] of the same names.
func WithReadPaths(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithReadPaths(paths...) }
}
func WithWritePaths(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithWritePaths(paths...) }
}
func WithDenyRead(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithDenyRead(paths...) }
}
func WithDenyWrite(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithDenyWrite(paths...) }
}
func WithNetwork(n Network) Option { return func(s Sandbox) Sandbox { return s.WithNetwork(n) } }
func WithDomains(patterns ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithDomains(patterns...) }
}
func WithUnixSockets(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithUnixSockets(paths...) }
}
func WithExecPath(paths ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithExecPath(paths...) }
}
func WithLimits(l Limits) Option { return func(s Sandbox) Sandbox { return s.WithLimits(l) } }
func WithEnv(entries ...string) Option {
	return func(s Sandbox) Sandbox { return s.WithEnv(entries...) }
}
func WithProfile(name string) Option { return func(s Sandbox) Sandbox { return s.WithProfile(name) } }
func WithBackend(name string) Option { return func(s Sandbox) Sandbox { return s.WithBackend(name) } }
func WithSession(name string) Option { return func(s Sandbox) Sandbox { return s.WithSession(name) } }

// WithReadPaths shows files and directories, to be read. Paths are absolute, or
// relative to the directory of the command.
func (s Sandbox) WithReadPaths(paths ...string) Sandbox {
	return s.add(&s.policy.ReadPaths, paths)
}

// WithWritePaths shows files and directories, to be read and written.
func (s Sandbox) WithWritePaths(paths ...string) Sandbox {
	return s.add(&s.policy.WritePaths, paths)
}

// WithDenyRead hides what another declaration shows. A denial wins over a
// declaration of the same path; of two others, the more specific path counts.
func (s Sandbox) WithDenyRead(paths ...string) Sandbox {
	return s.add(&s.policy.DenyRead, paths)
}

// WithDenyWrite makes what another declaration shows read-only.
func (s Sandbox) WithDenyWrite(paths ...string) Sandbox {
	return s.add(&s.policy.DenyWrite, paths)
}

// WithNetwork says how far the network reaches.
func (s Sandbox) WithNetwork(n Network) Sandbox { s.policy.Network = n; return s }

// WithDomains lists what [NetworkProxy] reaches: a name, *.name, an address or
// network, each with an optional :PORT.
func (s Sandbox) WithDomains(patterns ...string) Sandbox {
	return s.add(&s.policy.Domains, patterns)
}

// WithUnixSockets lists socket files of the host that can be connected to.
func (s Sandbox) WithUnixSockets(paths ...string) Sandbox {
	return s.add(&s.policy.UnixSockets, paths)
}

// WithExecPath shows files, to be executed: of the directories that they are in,
// it shows nothing else.
func (s Sandbox) WithExecPath(paths ...string) Sandbox {
	return s.add(&s.policy.ExecPaths, paths)
}

// WithLimits bounds time, memory, processors and processes; zero is the profile's
// limit. Other limits cannot be given.
func (s Sandbox) WithLimits(l Limits) Sandbox { s.policy.Limits = l; return s }

// WithEnv passes variables on (NAME), or sets them (NAME=VALUE).
func (s Sandbox) WithEnv(entries ...string) Sandbox {
	return s.add(&s.policy.Env, entries)
}

// WithProfile names the profile that the boundary begins with.
func (s Sandbox) WithProfile(name string) Sandbox { s.policy.Profile = name; return s }

// WithBackend says what makes the boundary: [Native], which is also meant by "";
// [Landlock], which makes no namespace and holds less; or [None], which holds
// nothing. docs/backends.md has the differences. Nothing chooses another than the
// native one by itself.
func (s Sandbox) WithBackend(name string) Sandbox { s.policy.Backend = name; return s }

// WithSession runs commands in the boundary of a session of ethos-sandbox, by its
// name, or auto:NAME to start it when it does not run. It needs ethos-sandbox as a
// program of its own. The session's boundary must be that of the policy.
func (s Sandbox) WithSession(name string) Sandbox { s.policy.Session = name; return s }

// add is the sandbox with more in one of its own lists.
func (s *Sandbox) add(list *[]string, more []string) Sandbox {
	*list = append(slices.Clone(*list), more...)
	return *s
}

// New makes a boundary for the commands of this program: that of [DefaultPolicy]
// for the working directory, changed by the options, in their order. It runs one
// command in it that does nothing, once for each boundary, and returns an error (a
// [*Refusal]) when this machine cannot enforce it: then no command runs at all.
//
// The boundary is made by ethos-sandbox: this program itself when its main function
// began with [ExecShim], else the program of that name beside this one or on PATH.
func New(options ...Option) (Sandbox, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Sandbox{}, err
	}
	s := Sandbox{policy: DefaultPolicy(dir)}
	for _, option := range options {
		s = option(s)
	}
	if err := s.policy.check(); err != nil {
		return Sandbox{}, err
	}
	if s.program, s.shim, err = wrapper(s.policy.Session != ""); err != nil {
		return Sandbox{}, err
	}
	if err := s.trusted(); err != nil {
		return Sandbox{}, err
	}
	return s, s.proved()
}

// trusted refuses a program found by its name that a confined command could have
// written: what makes the boundary must not be inside of it.
func (s Sandbox) trusted() error {
	if s.shim {
		return nil
	}
	program, err := filepath.EvalSymlinks(s.program)
	if err != nil {
		return err
	}
	for _, dir := range append([]string{s.policy.Workspace}, s.policy.WritePaths...) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && (within(program, real) || within(s.program, dir)) {
			return declaration("install it elsewhere, or begin main with sandbox.ExecShim()", "%s is in %s, which confined commands write", s.program, dir)
		}
	}
	return nil
}

// wrapper is the program that makes the boundary.
func wrapper(session bool) (program string, shim bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, err
	}
	if shimmed.Load() && !session {
		return self, true, nil
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		beside := filepath.Join(filepath.Dir(real), wrapperName)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside, false, nil
		}
	}
	program, err = exec.LookPath(wrapperName)
	if err != nil {
		return "", false, &Refusal{Code: CodeSetup, Err: fmt.Errorf("%s is neither beside this program nor on PATH", wrapperName), Hint: "install it, or begin main with sandbox.ExecShim()"}
	}
	program, err = filepath.Abs(program)
	return program, false, err
}

// proofs are the boundaries that have been tried: one error for each command line.
var proofs sync.Map

// proved runs a command that does nothing.
func (s Sandbox) proved() error {
	if s.policy.Session != "" {
		return nil // what is not in force ends the session's start
	}
	key := s.program + "\x00" + strings.Join(s.policy.args(), "\x00")
	found, _ := proofs.LoadOrStore(key, sync.OnceValue(func() error {
		cmd := exec.Command(s.program, "--version")
		if s.shim {
			cmd.Args[1] = shimCheck
		}
		result, err := s.WithExecPath(s.program).Run(context.Background(), cmd)
		if err == nil && (result.Status != record.StatusExited || result.ExitCode != 0) {
			err = &Refusal{Code: CodeVerify, Err: fmt.Errorf("a command that does nothing ended with %s %d", result.Status+result.Signal, result.ExitCode), Hint: "ethos-sandbox probe says what this machine can enforce"}
		}
		return err
	}))
	err := found.(func() error)()
	if err != nil {
		proofs.Delete(key) // the reason may go away
	}
	return err
}

// Backend is what makes the boundary: [Native] where [Sandbox.WithBackend] names
// no other.
func (s Sandbox) Backend() string { return cmp.Or(s.policy.Backend, Native) }

// Policy is what the boundary was asked for.
func (s Sandbox) Policy() Policy { return s.policy.clone() }

// wrapperName is argument 0 of the program that makes the boundary, and the name of
// ethos's own.
const wrapperName = "ethos-sandbox"

// Wrap rewrites a command that has not been started so that it runs in the
// boundary. Its streams, directory, environment, descriptors (ExtraFiles), SysProcAttr and
// context stay as they are, and the caller starts it and waits for it; what ends
// the process, such as the end of its context, ends everything that runs inside.
// Status 125 says that nothing ran. Of the environment, the command gets what the boundary
// passes on, and each variable of cmd.Env that this process has not, or has with
// another value. Wrapping twice is an error.
func (s Sandbox) Wrap(cmd *exec.Cmd) error {
	if s.program == "" {
		return errors.New("the zero Sandbox is no boundary: make one with New")
	}
	switch {
	case cmd.Err != nil:
		return cmd.Err
	case cmd.Process != nil:
		return errors.New("the command has been started")
	case len(cmd.Args) > 1 && cmd.Args[0] == wrapperName && cmd.Args[1] == "run":
		return errors.New("the command is wrapped")
	case len(cmd.Args) > 0 && filepath.Base(cmd.Args[0]) != filepath.Base(cmd.Path):
		return fmt.Errorf("argument 0 is %q, and the program %q: a confined command has its program's name", cmd.Args[0], cmd.Path)
	}
	if err := s.trusted(); err != nil {
		return err
	}
	dir, path := cmd.Dir, cmd.Path
	if dir == "" {
		dir = s.policy.Workspace
	}
	if dir, err := filepath.Abs(dir); err != nil || !within(dir, s.policy.Workspace) {
		return declaration("let its Dir be in the work space, or make a Sandbox for that directory", "the directory %s is not in the work space %s", dir, s.policy.Workspace)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	args := append([]string{wrapperName, "run"}, s.policy.args()...)
	for _, entry := range passedOn(cmd.Env) {
		args = append(args, "--env="+entry)
	}
	for i := range cmd.ExtraFiles {
		args = append(args, "--fd="+strconv.Itoa(3+i))
	}
	args = append(args, "--", path)
	if len(cmd.Args) > 1 {
		args = append(args, cmd.Args[1:]...)
	}
	cmd.Path, cmd.Args, cmd.Dir = s.program, args, dir
	return nil
}

// within reports whether a path is a directory or below it, by their names.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// passedOn are the names of the variables that somebody set for the command alone.
func passedOn(env []string) (names []string) {
	own := map[string]bool{}
	for _, entry := range os.Environ() {
		own[entry] = true
	}
	for _, entry := range env {
		if name, _, ok := strings.Cut(entry, "="); ok && !own[entry] && name != "" {
			names = append(names, name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// Result is how a command ended, with the evidence of its boundary in
// Capture.Sandbox.
type Result = record.Result

// Run wraps a command, runs it, and returns how it ended, with the evidence. The
// error is a [*Refusal] when the boundary did not let it begin, and nothing ran; a
// command that fails is no error. When ctx ends, everything inside is killed.
func (s Sandbox) Run(ctx context.Context, cmd *exec.Cmd) (Result, error) {
	if err := s.Wrap(cmd); err != nil {
		return Result{}, err
	}
	evidence, to, err := os.Pipe()
	if err != nil {
		return Result{}, err
	}
	defer evidence.Close()
	defer to.Close()
	at := slices.Index(cmd.Args, "--")
	cmd.Args = slices.Insert(cmd.Args, at, "--evidence=fd:"+strconv.Itoa(3+len(cmd.ExtraFiles)))
	cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), to)
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	to.Close()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer stop()
	text, readErr := io.ReadAll(evidence)
	waitErr := cmd.Wait()
	var result Result
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case readErr != nil:
		return result, readErr
	case len(text) == 0:
		return result, &Refusal{Code: CodeSetup, Err: fmt.Errorf("nothing ran: %w", exitOf(waitErr)), Hint: "standard error of the command says why"}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return result, fmt.Errorf("evidence: %w", err)
	}
	if result.Status == record.StatusDenied {
		return result, refusalOf(result)
	}
	if exit := (*exec.ExitError)(nil); waitErr != nil && !errors.As(waitErr, &exit) {
		return result, waitErr
	}
	return result, nil
}

// exitOf is what is known of a process that said nothing.
func exitOf(err error) error {
	if err == nil {
		return errors.New("it ended without evidence")
	}
	return err
}

// refusalOf is why nothing ran.
func refusalOf(r Result) error {
	return &Refusal{Code: r.Reason, Err: errors.New(r.Message), Hint: r.Hint}
}
