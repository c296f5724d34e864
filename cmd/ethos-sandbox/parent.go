package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

// parentFlags keep a run within the limits of another one.
type parentFlags struct {
	Parent string `placeholder:"EVIDENCE" help:"Limit the command to what another run had: the file that run wrote with --evidence."`
}

// within narrows a spec to what the parent requested. Nothing in the file can
// widen it.
func (f *parentFlags) within(sys *cli.System, b *boundary.Flags, spec *sandbox.Spec, managed bool) error {
	if f.Parent == "" {
		return nil
	}
	parent, err := readParent(sys, f.Parent)
	if err != nil {
		return cli.Errorf(cli.Refused, "name a file that ethos-sandbox run --evidence FILE wrote", "--parent %s: %w", f.Parent, err)
	}
	switch inOuter(spec); {
	case spec.Backend == sandbox.Outer:
		return cli.Errorf(cli.Refused, sandbox.OuterHint, "not available in the boundary of another ethos-sandbox: --parent")
	case spec.Workspace != parent.Workspace:
		return cli.Errorf(cli.Refused, "start it in "+parent.Workspace+", or without --parent", "the work space %s is not the one of --parent", spec.Workspace)
	case !managed && !parent.PlainGit:
		return cli.Errorf(cli.Refused, "use ethos-sandbox shell without --plain-git", "the run of --parent has managed git")
	case spec.Backend != "" && spec.Backend != sandbox.Native:
		return cli.Errorf(cli.Refused, "omit --backend", "the backend %s cannot be used with --parent, because it enforces less", spec.Backend)
	case b.Debug || b.PublishAny || len(b.Publish) > 0 || len(spec.Descriptors) > 0:
		return cli.Errorf(cli.Refused, "omit --debug, --publish and --fd", "--debug, --publish and --fd cannot be used with --parent")
	}
	bound := capability.Asked{Base: parent.Capabilities, Timeout: time.Duration(parent.TimeoutNS), MemoryBytes: parent.MemoryBytes}
	own := spec.Asked
	spec.Asked = capability.Within(capability.Space{Workspace: spec.Workspace, Home: parent.Home}, &bound, &own)
	spec.Require = append(spec.Require, parent.Require...)
	return nil
}

// withSession returns the error for --parent with a command of a session.
func withSession() error {
	return cli.Errorf(cli.Refused, "ethos-sandbox session start --parent NAME starts a session within another one", "--parent cannot be used with --session")
}

// readParent reads from a run's evidence what was requested.
func readParent(sys *cli.System, name string) (*record.Asked, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(sys.Dir, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var result record.Result
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, err
	}
	switch a := result.Capture.Sandbox.Asked; {
	case a == nil:
		return nil, errors.New("it does not contain what the run was asked for")
	case !filepath.IsAbs(a.Workspace) || a.TimeoutNS < -1 || a.MemoryBytes < 0 || a.Capabilities.SandboxProfile == "":
		return nil, errors.New("its description of the run is incomplete")
	default:
		return a, nil
	}
}

// askedOfRun returns the request for the evidence. It omits the values of
// variables that were set by hand.
func askedOfRun(sys *cli.System, spec *sandbox.Spec) *record.Asked {
	whole := capability.Clone(spec.Asked.Whole())
	for name := range spec.Asked.Set.Env.Set {
		delete(whole.Env.Set, name)
		whole.Env.Pass = append(whole.Env.Pass, name)
	}
	slices.Sort(whole.Env.Pass)
	return &record.Asked{
		Workspace: spec.Workspace, Home: sys.Getenv("HOME"), Capabilities: whole, TimeoutNS: int64(spec.Asked.Timeout), MemoryBytes: spec.Asked.MemoryBytes,
		Require: append([]string{}, spec.Require...), PlainGit: spec.Managed.Program == "",
	}
}
