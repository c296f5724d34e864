package egressclients

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/record"
)

// place is a work space with a home directory beside it.
type place struct {
	t       *testing.T
	work    string
	environ []string // of what is run, beside the usual
}

func newPlace(t *testing.T) *place {
	t.Helper()
	needWorld(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, work: filepath.Join(base, "w")}
	for _, dir := range []string{p.work, filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(theWorld.authority)
	if err != nil {
		t.Fatal(err)
	}
	p.write("ca.pem", string(text))
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.work, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// settings have clients trust the authority of the world, and keep what they
// cache in the work space.
func settings() string {
	text := "export GOFLAGS='-mod=mod -modcacherw' GOSUMDB=off GOTOOLCHAIN=local PIP_DISABLE_PIP_VERSION_CHECK=1 npm_config_fetch_retries=0"
	for _, name := range []string{"update_notifier", "audit", "fund"} {
		text += " npm_config_" + name + "=false"
	}
	for _, name := range []string{"CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "npm_config_cafile"} {
		text += " " + name + `="$PWD/ca.pem"`
	}
	for _, name := range []string{"GOPATH", "GOCACHE", "npm_config_cache", "PIP_CACHE_DIR"} {
		text += " " + name + `="$PWD/` + name + `"`
	}
	return text + "\n"
}

// outcome is what became of a command.
type outcome struct {
	stdout, stderr string
	err            error
	took           time.Duration
	resident       int64               // the most bytes of memory that the sandbox or a process in it had
	connections    []record.Connection // of the evidence of a sandbox
	denials        []record.Denial
	evidence       string // as it is written
}

// denied are the remedies of what a sandbox denied.
func (o outcome) denied() (remedies []string) {
	for _, d := range o.denials {
		remedies = append(remedies, d.Remedy)
	}
	return remedies
}

// connected reports a connection to an allowed name by a door.
func (o outcome) connected(door string) bool {
	return slices.ContainsFunc(o.connections, func(c record.Connection) bool { return c.Allowed && c.Door == door && c.Address != "" })
}

// refused reports that a destination was refused for a reason.
func (o outcome) refused(name, reason string) bool {
	return slices.ContainsFunc(o.connections, func(c record.Connection) bool { return c.Name == name && c.Reason == reason && c.Refused() })
}

func (o outcome) String() string {
	return fmt.Sprintf("%v after %v\n%s%s%+v", o.err, o.took.Round(time.Millisecond), o.stdout, o.stderr, o.connections)
}

// remedy is the pattern that the end of a run proposes for a name.
func (o outcome) remedy(name string) string {
	for line := range strings.Lines(o.stderr) {
		pattern, is := strings.CutPrefix(strings.TrimSpace(line), "ethos-sandbox: hint: --allow-domain ")
		pattern, _, _ = strings.Cut(pattern, ", ")
		if host, _, _ := strings.Cut(pattern, ":"); is && host == name {
			return pattern
		}
	}
	return ""
}

// patience is more than any command needs.
var patience = 60 * time.Second

func (p *place) run(argv ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.work
	cmd.Env = []string{"PATH=" + searchPath, "HOME=" + filepath.Join(filepath.Dir(p.work), "home"), "LANG=C.UTF-8", "SHELL=/bin/sh"}
	cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+theWorld.authority) // what ethos-sandbox itself trusts
	cmd.Env = append(cmd.Env, p.environ...)
	cmd.WaitDelay = time.Second
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err := cmd.Run()
	o := outcome{stdout: stdout.String(), stderr: stderr.String(), err: err, took: time.Since(begun)}
	if cmd.ProcessState != nil {
		o.resident = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	return o
}

// searchPath has what the system installed, and the Go tool.
var searchPath = goFolder() + "/usr/bin:/bin:/usr/sbin:/sbin"

func goFolder() string {
	if path, err := exec.LookPath("go"); err == nil {
		return filepath.Dir(path) + ":"
	}
	return ""
}

// direct runs a script in the world, without a sandbox.
func (p *place) direct(script string) outcome {
	return p.run("sh", "-ec", settings()+script)
}

// sandboxed runs a script in a sandbox whose only way out are the domains that
// flags allow.
func (p *place) sandboxed(flags []string, script string) outcome {
	p.t.Helper()
	return p.evidenced(flags, settings()+script)
}

// evidenced is the same for a script as it is.
func (p *place) evidenced(flags []string, script string) outcome {
	p.t.Helper()
	evidence := filepath.Join(filepath.Dir(p.work), "evidence.json")
	args := append([]string{os.Getenv(programVariable), "run", "--net", "proxy", "--evidence", evidence}, flags...)
	o := p.run(append(args, "--", "sh", "-ec", script)...)
	text, err := os.ReadFile(evidence)
	if err != nil {
		p.t.Fatalf("%v: %v", err, o)
	}
	var result record.Result
	if err := json.Unmarshal(text, &result); err != nil {
		p.t.Fatal(err)
	}
	o.denials, o.evidence = result.Capture.Sandbox.Denials, string(text)
	o.connections = result.Capture.Sandbox.Connections
	return o
}

// self is this binary.
func self() string { return must(os.Executable()) }

// lookPath probes for a program.
func lookPath(name string) func() string {
	return func() string {
		if _, err := exec.LookPath(name); err != nil {
			return err.Error()
		}
		return ""
	}
}
