// Package requests is a table of requests for a boundary, by flags and by
// records, each with a file system in memory. Golden tests make plans from
// them. No request depends on the machine, its user or its kernel.
package requests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

// Request is one row of the table.
type Request struct {
	Topic string
	Name  string // unique within the topic and the entrance
	// Flags are those of ethos-sandbox run or plan, with the command, as words
	// separated by blanks; "·" within a word stands for a blank.
	Flags string
	// Record holds, as JSON, what a record has in addition to the capabilities
	// of its profile: members of its action and its capabilities. "" is a
	// request by flags.
	Record string

	Profile string
	Tree    string // features of the file system, separated by blanks; see features
	Dir     string // working directory; "" is the workspace
	Environ []string
	Root    bool   // requested by root, not by an ordinary user
	Machine string // features of the start machine; see [Machine]
	Managed bool   // git is managed
}

// The paths that requests name.
const (
	Home = "/home/u"
	Work = "/home/u/w"
)

// environ is the environment of an average user.
var environ = []string{"HOME=" + Home, "PATH=/usr/local/bin:/usr/bin:/bin:" + Home + "/go/bin", "USER=u", "LANG=C.UTF-8", "SHELL=/bin/bash", "TERM=xterm", "TMPDIR=/tmp/x", "SSH_AUTH_SOCK=/run/agent", "SECRET=s"}

// ID names the request in golden files.
func (r *Request) ID() string { return r.Entrance() + "/" + r.Topic + "/" + r.Name }

// Entrance is "flags" or "record".
func (r *Request) Entrance() string {
	if r.Record != "" {
		return "record"
	}
	return "flags"
}

// Caller returns the user id of the requester.
func (r *Request) Caller() int {
	if r.Root {
		return 0
	}
	return faketree.User
}

// Files returns the file system of the request.
func (r *Request) Files() (sandbox.Files, faketree.Tree) {
	t := faketree.Tree{}
	plain(t)
	for name := range strings.FieldsSeq(r.Tree) {
		feature, ok := features[name]
		if !ok {
			panic("no such feature: " + name)
		}
		feature(t)
	}
	if r.Root {
		return faketree.ByRoot{Tree: t}, t
	}
	return t, t
}

// Spec returns the requested spec.
func (r *Request) Spec() (spec sandbox.Spec, err error) {
	env := environ
	if r.Environ != nil {
		env = r.Environ
	}
	files, _ := r.Files()
	if r.Record != "" {
		spec, err = r.recordSpec(env)
	} else {
		spec, err = r.flagSpec(files, env)
	}
	if r.Managed {
		spec.Managed = sandbox.ManagedGit{Program: "/opt/ethos/ethos-git", Decide: "/opt/ethos/ethos-decide", CEL: "/opt/ethos/ethos-cel", Real: "/usr/bin/git", Over: []string{"/usr/bin/git", "/usr/local/bin/git", "/home/other/bin/git"}}
	}
	return spec, err
}

func (r *Request) dir() string {
	if r.Dir != "" {
		return r.Dir
	}
	return Work
}

// commandLine is the part of ethos-sandbox's command line that describes a
// boundary.
type commandLine struct {
	Plan struct {
		boundary.Flags
		Argv cli.Argv `arg:"" passthrough:"" name:"argv"`
	} `cmd:""`
}

func (r *Request) flagSpec(files sandbox.Files, env []string) (sandbox.Spec, error) {
	args := []string{"plan"}
	for word := range strings.FieldsSeq(r.Flags) {
		args = append(args, strings.ReplaceAll(word, "·", " "))
	}
	line := &commandLine{}
	p := cli.Program{Name: "ethos-sandbox", Summary: "Plans.", Commands: line}
	if _, err := p.Selected(&cli.System{Stdout: io.Discard, Stderr: io.Discard}, args); err != nil {
		return sandbox.Spec{}, fmt.Errorf("command line: %w", err)
	}
	return line.Plan.Spec(files, r.dir(), env, line.Plan.Argv.Words())
}

func (r *Request) recordSpec(env []string) (sandbox.Spec, error) {
	action := record.Action{Kind: record.KindExec, Argv: []string{"make"}, Cwd: r.dir(), Workspace: Work}
	caps, ok := capability.Profile(r.Profile)
	if !ok {
		caps = record.Capabilities{SandboxProfile: r.Profile}
	}
	if err := overlay(r.Record, &action, &caps); err != nil {
		return sandbox.Spec{}, err
	}
	return sandbox.FromRecord(action, caps, env)
}

// overlay sets members of the action and the capabilities; no name is in both.
func overlay(text string, action *record.Action, caps *record.Capabilities) error {
	all := struct {
		*record.Action
		*record.Capabilities
	}{action, caps}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	return dec.Decode(&all)
}

// Machine describes the machine for which a request's calls are prepared.
type Machine struct {
	ABI    int  // of Landlock; 0 is a kernel without it
	Cgroup bool // a cgroup is available
	Bare   bool // the kernel refuses to mount proc(5)
}

// Host returns the machine of the request.
func (r *Request) Host() Machine {
	m := Machine{ABI: 7}
	for word := range strings.FieldsSeq(r.Machine) {
		switch {
		case word == "cgroup":
			m.Cgroup = true
		case word == "bareproc":
			m.Bare = true
		default:
			if _, err := fmt.Sscanf(word, "abi=%d", &m.ABI); err != nil {
				panic("no such machine: " + word)
			}
		}
	}
	return m
}
