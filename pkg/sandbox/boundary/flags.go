// Package boundary has the flags that describe the boundary of one command, and
// makes of them what is asked of package sandbox.
package boundary

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/quantity"
	"ethos/pkg/sandbox"
)

// Flags describe the boundary of one command. The tags are of its command-line model.
type Flags struct {
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

// Spec makes the spec of argv in a working directory, which the paths of the
// flags are relative to. files show where the work space begins.
func (f *Flags) Spec(files sandbox.Files, dir string, environ, argv []string) (sandbox.Spec, error) {
	spec := sandbox.Spec{
		Profile: f.Profile, Argv: argv, Dir: dir, Workspace: workspaceOf(files, dir), Environ: environ,
		Read: absolute(dir, f.Ro), Write: absolute(dir, f.Rw), DenyRead: absolute(dir, f.DenyRead), DenyWrite: absolute(dir, f.DenyWrite),
		UnixSockets: absolute(dir, f.UnixSocket), Network: f.Net, AllowDomains: f.AllowDomain, DenyDomains: f.DenyDomain,
		Env: f.Env, Require: f.Require,
	}
	var err error
	spec.Limits, err = f.limits()
	return spec, err
}

func (f *Flags) limits() (l sandbox.Limits, err error) {
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
func workspaceOf(files sandbox.Files, dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := files.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
