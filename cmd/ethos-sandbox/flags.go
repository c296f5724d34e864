package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/quantity"
	"ethos/pkg/sandbox"
)

// boundaryFlags describe the boundary of one command.
type boundaryFlags struct {
	Profile     string   `placeholder:"NAME" help:"Base: lint-offline, workspace, agent-shell, agent-network, test-loopback or build."`
	Ro          []string `placeholder:"PATH" sep:"none" help:"Can be read."`
	Rw          []string `placeholder:"PATH" sep:"none" help:"Can be read and written."`
	DenyRead    []string `placeholder:"PATH" sep:"none" help:"Can be neither read nor written."`
	DenyWrite   []string `placeholder:"PATH" sep:"none" help:"Cannot be written."`
	Net         string   `placeholder:"MODE" enum:",none,loopback,proxy,host" default:"" help:"How far the network reaches: none, loopback, proxy or host."`
	AllowDomain []string `placeholder:"PATTERN" help:"With --net proxy: can be reached."`
	DenyDomain  []string `placeholder:"PATTERN" help:"With --net proxy: cannot be reached."`
	UnixSocket  []string `placeholder:"PATH" sep:"none" help:"A socket file of the host that can be connected to."`
	Env         []string `placeholder:"NAME[=VALUE]" sep:"none" help:"Pass a variable on, or set one."`
	Timeout     string   `placeholder:"DURATION" help:"Wall-clock limit, such as 90s or 10m; 0 is none."`
	Memory      string   `placeholder:"SIZE" help:"Memory limit, such as 512M or 2G."`
	CPU         string   `placeholder:"PERCENT" name:"cpu" help:"CPU limit; 100 is one processor."`
	Pids        int64    `placeholder:"N" help:"Limit of processes and threads."`
	Require     []string `placeholder:"CONTROL" help:"Run only with these controls in full force: userns, landlock, seccomp, cgroup, …"`
}

// spec makes the spec of argv. Paths are relative to the working directory here.
func (f *boundaryFlags) spec(sys *cli.System, argv []string) (sandbox.Spec, error) {
	spec := sandbox.Spec{
		Profile: f.Profile, Argv: argv, Dir: sys.Dir, Workspace: workspaceOf(sys.Dir), Environ: sys.Environ,
		Read: absolute(sys.Dir, f.Ro), Write: absolute(sys.Dir, f.Rw), DenyRead: absolute(sys.Dir, f.DenyRead), DenyWrite: absolute(sys.Dir, f.DenyWrite),
		UnixSockets: absolute(sys.Dir, f.UnixSocket), Network: f.Net, AllowDomains: f.AllowDomain, DenyDomains: f.DenyDomain,
		Env: f.Env, Require: f.Require,
	}
	var err error
	spec.Limits, err = f.limits()
	return spec, err
}

func (f *boundaryFlags) limits() (l sandbox.Limits, err error) {
	var faults []error
	note := func(err error) { faults = append(faults, err) }
	switch f.Timeout {
	case "":
	case "0":
		l.Timeout = sandbox.NoTimeout
	default:
		var d time.Duration
		d, err = quantity.ParseDuration(f.Timeout)
		note(err)
		l.Timeout = d
	}
	if f.Memory != "" {
		l.MemoryBytes, err = quantity.ParseSize(f.Memory)
		note(err)
	}
	if f.CPU != "" {
		l.CPUPercent, err = quantity.ParsePercent(f.CPU)
		note(err)
	}
	if f.Pids < 0 {
		note(errors.New("--pids is below 0"))
	}
	l.Pids = f.Pids
	return l, errors.Join(faults...)
}

// absolute makes paths of the command line absolute; "~" is left for the plan.
func absolute(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		if out[i] = p; p != "" && !filepath.IsAbs(p) && p != "~" && !strings.HasPrefix(p, "~/") {
			optional := strings.HasSuffix(p, "?")
			out[i] = filepath.Join(dir, strings.TrimSuffix(p, "?"))
			if optional {
				out[i] += "?"
			}
		}
	}
	return out
}

// workspaceOf is the enclosing git work tree, else the directory itself.
func workspaceOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// build makes the plan of a spec; a refusal becomes an error with the given status.
func build(spec sandbox.Spec, status cli.Status) (*sandbox.Plan, error) {
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		return nil, refused(err, status)
	}
	return plan, nil
}

// refused makes the message of a refusal. not found and not executable have statuses of their own.
func refused(err error, status cli.Status) error {
	var r *sandbox.Refusal
	if !errors.As(err, &r) {
		return &cli.Error{Status: status, Err: err}
	}
	switch r.Code {
	case sandbox.CodeNotFound:
		status = cli.NotFound
	case sandbox.CodeNotExec:
		status = cli.NotExecutable
	case sandbox.CodeUnsupported:
		status = cli.CannotEnforce
	}
	return &cli.Error{Status: status, Err: err, Hint: r.Hint}
}
