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

// Sandbox is a boundary for programs that embed ethos. [New] makes one. Each With… method
// returns a changed copy. A Sandbox is safe for concurrent use.
type Sandbox struct {
	policy  Policy
	program string // ethos-sandbox, or this program if it began with [ExecShim]
	shim    bool
}

// Network is how far a command's network reaches. The zero value is [NetworkDeny].
type Network string

// The networks.
const (
	NetworkDeny     Network = "none"     // no interface is up
	NetworkLoopback Network = "loopback" // its own loopback interface
	NetworkProxy    Network = "proxy"    // loopback, and the names given to WithDomains
	NetworkOpen     Network = "host"     // the host's network
)

// Option changes the boundary that [New] makes.
type Option func(Sandbox) Sandbox

// WithPolicy replaces the policy of [DefaultPolicy].
func WithPolicy(p Policy) Option {
	return func(s Sandbox) Sandbox { s.policy = p.clone(); return s }
}

// The options of [New] correspond to the methods of [Sandbox] of the same names.
func WithReadPaths(paths ...string) Option   { return each(Sandbox.WithReadPaths, paths) }
func WithWritePaths(paths ...string) Option  { return each(Sandbox.WithWritePaths, paths) }
func WithDenyRead(paths ...string) Option    { return each(Sandbox.WithDenyRead, paths) }
func WithDenyWrite(paths ...string) Option   { return each(Sandbox.WithDenyWrite, paths) }
func WithNetwork(n Network) Option           { return func(s Sandbox) Sandbox { return s.WithNetwork(n) } }
func WithDomains(patterns ...string) Option  { return each(Sandbox.WithDomains, patterns) }
func WithUnixSockets(paths ...string) Option { return each(Sandbox.WithUnixSockets, paths) }
func WithExecPath(paths ...string) Option    { return each(Sandbox.WithExecPath, paths) }
func WithLimits(l Limits) Option             { return func(s Sandbox) Sandbox { return s.WithLimits(l) } }
func WithEnv(entries ...string) Option       { return each(Sandbox.WithEnv, entries) }
func WithProfile(name string) Option         { return func(s Sandbox) Sandbox { return s.WithProfile(name) } }
func WithBackend(name string) Option         { return func(s Sandbox) Sandbox { return s.WithBackend(name) } }
func WithSession(name string) Option         { return func(s Sandbox) Sandbox { return s.WithSession(name) } }

func each(add func(Sandbox, ...string) Sandbox, entries []string) Option {
	return func(s Sandbox) Sandbox { return add(s, entries...) }
}

// WithReadPaths makes files and directories readable. Paths are absolute or relative to the
// command's directory.
func (s Sandbox) WithReadPaths(paths ...string) Sandbox {
	return s.add(&s.policy.ReadPaths, paths)
}

// WithWritePaths makes files and directories readable and writable.
func (s Sandbox) WithWritePaths(paths ...string) Sandbox {
	return s.add(&s.policy.WritePaths, paths)
}

// WithDenyRead hides paths that another declaration shows. A deny wins over a grant of the
// same path; otherwise the more specific path wins.
func (s Sandbox) WithDenyRead(paths ...string) Sandbox {
	return s.add(&s.policy.DenyRead, paths)
}

// WithDenyWrite makes paths read-only that another declaration makes writable.
func (s Sandbox) WithDenyWrite(paths ...string) Sandbox {
	return s.add(&s.policy.DenyWrite, paths)
}

// WithNetwork sets how far the network reaches.
func (s Sandbox) WithNetwork(n Network) Sandbox { s.policy.Network = n; return s }

// WithDomains lists the destinations that [NetworkProxy] allows: a name, *.name, an address
// or a network, each with an optional :PORT.
func (s Sandbox) WithDomains(patterns ...string) Sandbox {
	return s.add(&s.policy.Domains, patterns)
}

// WithUnixSockets lists host socket files that the command may connect to.
func (s Sandbox) WithUnixSockets(paths ...string) Sandbox {
	return s.add(&s.policy.UnixSockets, paths)
}

// WithExecPath makes files executable. It shows nothing else of the directories that
// contain them.
func (s Sandbox) WithExecPath(paths ...string) Sandbox {
	return s.add(&s.policy.ExecPaths, paths)
}

// WithLimits limits time, memory, processors and processes; zero means the profile's limit.
// Other limits cannot be set.
func (s Sandbox) WithLimits(l Limits) Sandbox { s.policy.Limits = l; return s }

// WithEnv passes variables on (NAME) or sets them (NAME=VALUE).
func (s Sandbox) WithEnv(entries ...string) Sandbox {
	return s.add(&s.policy.Env, entries)
}

// WithProfile sets the profile that the boundary starts from.
func (s Sandbox) WithProfile(name string) Sandbox { s.policy.Profile = name; return s }

// WithBackend sets what enforces the boundary: [Native], also for ""; [Landlock], which
// makes no namespaces and enforces less; or [None], which enforces nothing.
// docs/backends.md lists the differences. A backend other than native is never chosen
// automatically.
func (s Sandbox) WithBackend(name string) Sandbox { s.policy.Backend = name; return s }

// WithSession runs commands in the boundary of a session of ethos-sandbox. name is the name
// of a session, or auto:NAME to start it if it is not running. It needs ethos-sandbox as a
// separate program. The session's boundary must be that of the policy.
func (s Sandbox) WithSession(name string) Sandbox { s.policy.Session = name; return s }

func (s *Sandbox) add(list *[]string, more []string) Sandbox {
	*list = append(slices.Clone(*list), more...)
	return *s
}

// New makes a boundary for the commands of this program: that of [DefaultPolicy] for the
// working directory, changed by the options in their order. Once for each boundary, it runs
// a command in it that does nothing. If this machine cannot enforce the boundary, it
// returns an error (a [*Refusal]), and no command can run.
//
// The boundary is made by ethos-sandbox: by this program itself if its main function began
// with [ExecShim], else by the program of that name beside this one or on PATH.
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

// trusted refuses a program, found by name, that a confined command could have written: the
// program that makes the boundary must not lie inside it.
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

// proofs caches the test of each boundary: one error for each command line.
var proofs sync.Map

// proved runs a command that does nothing in the boundary.
func (s Sandbox) proved() error {
	if s.policy.Session != "" {
		return nil // starting the session fails if something is not in force
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
		proofs.Delete(key) // the cause may go away
	}
	return err
}

// Backend returns the backend: [Native] unless [Sandbox.WithBackend] set another.
func (s Sandbox) Backend() string { return cmp.Or(s.policy.Backend, Native) }

// Policy returns a copy of the requested policy.
func (s Sandbox) Policy() Policy { return s.policy.clone() }

// wrapperName is argument 0 of the program that makes the boundary, and the name of ethos's
// own program.
const wrapperName = "ethos-sandbox"

// Wrap rewrites a command that has not been started so that it runs in the boundary. Its
// streams, directory, environment, descriptors (ExtraFiles), SysProcAttr and context are
// unchanged. The caller starts it and waits for it. Whatever ends the process, such as the
// end of its context, ends everything that runs inside. Exit status 125 means that nothing
// ran. The command gets the variables that the boundary passes on, and each variable of
// cmd.Env that this process does not have or has with another value. It is an error to wrap
// a command twice.
func (s Sandbox) Wrap(cmd *exec.Cmd) error {
	if s.program == "" {
		return errors.New("the zero Sandbox has no boundary: create one with New")
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

// within reports whether a path is a directory or lies below it, by name only.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// passedOn returns the names of the variables that are set for the command only.
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

// Result describes how a command ended. The evidence of its boundary is in Capture.Sandbox.
type Result = record.Result

// Run wraps a command, runs it, and returns how it ended, with the evidence. If the
// boundary did not let the command start, nothing ran and the error is a [*Refusal]. A
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

// exitOf describes a process that returned no evidence.
func exitOf(err error) error {
	if err == nil {
		return errors.New("it ended without evidence")
	}
	return err
}

// refusalOf returns the reason why nothing ran.
func refusalOf(r Result) error {
	return &Refusal{Code: r.Reason, Err: errors.New(r.Message), Hint: r.Hint}
}
