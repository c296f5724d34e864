package boundary

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// wanting is a place where a control cannot be had.
type wanting struct {
	control string
	things  []string // that the machine lacks; see lack
	flags   []string
	before  func(dir string) error
	says    string // a part of the message
}

var wantings = []wanting{
	{control: "userns", things: []string{"sysctl:max_user_namespaces"}, says: "namespaces: clone"},
	{control: "userns", things: []string{"namespaces:EPERM"}, says: "namespaces: clone"},
	{control: "mount", things: []string{"sysctl:max_mnt_namespaces"}, says: "namespaces: clone"},
	{control: "mount", things: []string{"call:mount_setattr=ENOSYS"}, says: "mount_setattr"},
	{control: "pid", things: []string{"sysctl:max_pid_namespaces"}, says: "namespaces: clone"},
	{control: "ipc", things: []string{"sysctl:max_ipc_namespaces"}, says: "namespaces: clone"},
	{control: "uts", things: []string{"sysctl:max_uts_namespaces"}, says: "namespaces: clone"},
	{control: "uts", things: []string{"call:sethostname=EPERM"}, says: "uts is degraded"},
	{control: "cgroupns", things: []string{"sysctl:max_cgroup_namespaces"}, says: "namespaces: clone"},
	{control: sandbox.ControlNetwork, things: []string{"sysctl:max_net_namespaces"}, says: "namespaces: clone"},
	{control: sandbox.ControlNetwork, flags: []string{"--net", "host"}, says: "network is not_requested"},
	{control: "egress", says: "egress is not_requested"},
	{control: "egress", things: []string{"call:bind=EPERM"}, flags: []string{"--allow-domain", "example.com"}, says: "bind udp 127.0.0.1:53"},
	{control: "egress", things: []string{"call:sendto=EPERM"}, flags: []string{"--allow-domain", "example.com"}, says: "sendto"},
	{control: "publish", says: "publish is not_requested"},
	{control: "publish", flags: []string{"--publish", "0.0.0.0:8080:80"}, says: "lets other machines in"},
	{control: "ports", says: "ports is not_requested"},
	{control: "git_signing", says: "git_signing is not_requested"},
	{control: "git_signing", things: []string{"call:bind=EPERM"}, flags: []string{"--git-signing", "own"}, says: "bind"},
	{control: "landlock", things: []string{"call:landlock_create_ruleset=ENOSYS"}, says: "landlock is absent"},
	{control: "landlock", things: []string{"call:landlock_create_ruleset=EPERM"}, says: "landlock"},
	{control: "landlock", things: []string{"call:landlock_restrict_self=EPERM"}, says: "landlock_restrict_self"},
	{control: "seccomp", things: []string{"call:seccomp=ENOSYS"}, says: "seccomp"},
	{control: "seccomp", things: []string{"call:seccomp=EPERM"}, says: "seccomp"},
	{control: "unix_sockets", flags: []string{"--net", "host"}, says: "unix_sockets is not_requested"},
	{control: "unix_sockets", things: []string{"call:pidfd_getfd=EPERM"}, says: "unix_sockets is degraded"},
	{control: "privileges", things: []string{"call:capset=EPERM"}, says: "capset"},
	{control: "cgroup", things: []string{"cover:/sys/fs/cgroup"}, says: "cgroup"},
	{control: "rlimits", things: []string{"call:prlimit64=EPERM"}, says: "prlimit64"},
	{control: "timeout", flags: []string{"--timeout", "0"}, says: "timeout is not_requested"},
	{control: "output", says: "output is not_requested"}, // a run passes its streams through
	{control: "caches", says: "caches is not_requested"},
	{control: "caches", before: cacheWithoutRoom, says: "caches is degraded"},
	{control: "workspace", says: "workspace is not_requested"},
	{control: "environment", flags: []string{"--env", "LD_PRELOAD=/evil.so"}, says: "LD_PRELOAD never reaches"},
}

// cacheWithoutRoom makes a package cache, and a work space in which what is added to it cannot be kept.
func cacheWithoutRoom(dir string) error {
	return errors.Join(os.MkdirAll(filepath.Join(filepath.Dir(dir), "home/.cache/go-build"), 0o755),
		os.Mkdir(filepath.Join(dir, ".coding-ethos"), 0o755), os.WriteFile(filepath.Join(dir, ".coding-ethos/cache"), nil, 0o644))
}

// TestRequire asks for each control where it cannot be had: status 125, the reason, a way out, and the command has not run.
func TestRequire(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for _, name := range sandbox.Controls() {
		if !slices.ContainsFunc(wantings, func(w wanting) bool { return w.control == name }) {
			t.Errorf("control %s: no place is known where it cannot be had", name)
		}
	}
	for _, w := range wantings {
		t.Run(strings.Join(append(append([]string{w.control}, w.things...), w.flags...), " "), func(t *testing.T) {
			t.Parallel()
			dir := space(t)
			if w.before != nil {
				if err := w.before(dir); err != nil {
					t.Fatal(err)
				}
			}
			args := append(append([]string{"run", "--require", w.control}, w.flags...), "--", "sh", "-c", "touch marker")
			refuses(t, lacking(t, dir, w.things, args...), w.says)
			if _, err := os.Lstat(filepath.Join(dir, "marker")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

// refuses runs a command line that must end with 125, an error that says something, and a hint.
func refuses(t *testing.T, cmd *exec.Cmd, says string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 125 {
		t.Fatalf("%v, not status 125: %s", err, &stderr)
	}
	text, hint, _ := strings.Cut(stderr.String(), "ethos-sandbox: hint: ")
	if !strings.HasPrefix(text, "ethos-sandbox: error: ") || !strings.Contains(text, says) {
		t.Errorf("it does not say %q: %s", says, text)
	}
	if len(strings.TrimSpace(hint)) < 20 {
		t.Errorf("no way out: %q", hint)
	}
	t.Logf("%s", &stderr)
}

// TestRequireHeld is the twin: what the evidence of a run says is enforced can be required.
func TestRequireHeld(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir := space(t)
	evidence := filepath.Join(filepath.Dir(dir), "evidence.json")
	run := func(flags ...string) {
		args := append(append([]string{"run"}, flags...), "--", "sh", "-c", "touch marker")
		if out, err := lacking(t, dir, nil, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", flags, err, out)
		}
	}
	run("--evidence", evidence)
	text, err := os.ReadFile(evidence)
	if err != nil {
		t.Fatal(err)
	}
	var result record.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, c := range result.Capture.Sandbox.Controls {
		if c.State == "enforced" {
			flags = append(flags, "--require", c.Name)
		}
	}
	if len(flags) < 2*10 {
		t.Fatalf("only %v are enforced", flags)
	}
	if err := os.Remove(filepath.Join(dir, "marker")); err != nil {
		t.Fatal(err)
	}
	run(flags...)
	if _, err := os.Lstat(filepath.Join(dir, "marker")); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
}
