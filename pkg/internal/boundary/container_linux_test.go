package boundary

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// container is what the engines do to /proc: the masked and the read-only paths of Docker and Podman, as far as this kernel has them.
var container = []string{
	"proc:/proc", "mask:/proc/kcore", "mask:/proc/keys", "mask:/proc/timer_list", "cover:/proc/acpi", "cover:/proc/scsi",
	"readonly:/proc/bus", "readonly:/proc/fs", "readonly:/proc/irq", "readonly:/proc/sys",
}

// TestCoveredProc: in a container with a covered /proc the kernel refuses a new one. The command gets what there can be instead, which shows no process but its own, and
// the evidence says so.
func TestCoveredProc(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir := space(t)
	evidence := filepath.Join(filepath.Dir(dir), "evidence.json")
	script := "cd /proc; echo [0-9]*; cat sys/kernel/ostype || echo Linux; echo x 2>/dev/null > /proc/sys/kernel/ostype && echo written; ls keys kcore acpi 2>/dev/null; touch " + dir + "/marker"
	cmd := lacking(t, dir, container, "run", "--evidence", evidence, "--", "sh", "-c", script)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if own := lines[0]; own != "[0-9]*" && own != "1 2" { // none, or init and the command, where the kernel lets the processes alone be shown
		t.Errorf("/proc shows the processes %s", own)
	}
	if len(lines) != 2 || lines[1] != "Linux" {
		t.Errorf("it printed %q", lines)
	}
	if _, err := os.Lstat(filepath.Join(dir, "marker")); err != nil {
		t.Errorf("it did not come to its end: %v", err)
	}
	if c := control(t, evidence, "mount"); c.State != "degraded" || !strings.Contains(c.Reason, "covers parts of its /proc") {
		t.Errorf("the evidence says %+v", c)
	}
}

// TestCoveredProcInSession: the boundary of a session takes a second attempt in
// such a container, and its commands run in that one.
func TestCoveredProcInSession(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir, runtime := space(t), t.TempDir()
	if err := os.Chmod(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := lacking(t, dir, container, "session")
	at := slices.Index(cmd.Args, "--") + 1
	cmd.Args = slices.Concat(cmd.Args[:at], []string{"/bin/sh", "-c", `"$0" session start --plain-git --name covered >&2 && for i in 1 2; do "$0" run --session covered -- sh -c 'echo $1; touch marker$1' - $i || exit; done; "$0" session end covered`, cmd.Args[at]})
	cmd.Env = append(cmd.Environ(), "XDG_RUNTIME_DIR="+runtime)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || string(out) != "1\n2\n" {
		t.Errorf("%v: it printed %q, and %s", err, out, &stderr)
	}
	for _, name := range []string{"marker1", "marker2"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// control reads one control from an evidence file.
func control(t *testing.T, file, name string) record.Control {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var result record.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	controls := result.Capture.Sandbox.Controls
	i := slices.IndexFunc(controls, func(c record.Control) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no %s in %s", name, text)
	}
	return controls[i]
}

// TestPodman: what its default filter refuses to a process without CAP_SYS_ADMIN is no reason not to run.
func TestPodman(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	dir := space(t)
	evidence := filepath.Join(filepath.Dir(dir), "evidence.json")
	things := append(slices.Clone(container), "call:sethostname=EPERM", "call:setdomainname=EPERM", "call:setns=EPERM", "call:bpf=EPERM", "call:keyctl=ENOSYS")
	if out, err := lacking(t, dir, things, "run", "--evidence", evidence, "--", "touch", "marker").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "marker")); err != nil {
		t.Errorf("it did not run: %v", err)
	}
	if c := control(t, evidence, "uts"); c.State != "degraded" || !strings.Contains(c.Reason, "sethostname") {
		t.Errorf("the evidence says %+v", c)
	}
}

// TestContainers asks in imitations of default containers for what cannot be had there: nothing runs, and the hint names what to allow.
func TestContainers(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	for name, c := range map[string]struct {
		things, flags []string
		hint          string
	}{
		"a whole /proc":         {container, []string{"--require", "mount"}, "systempaths=unconfined"},
		"docker's calls":        {[]string{"namespaces:EPERM"}, nil, "seccomp=unconfined"},
		"docker's calls, /proc": {append(slices.Clone(container), "namespaces:EPERM"), nil, "seccomp=unconfined"},
		"root's capabilities":   {[]string{"capabilities:all"}, nil, "--cap-add=SETFCAP"},
		"no mounts":             {[]string{"call:fsopen=EPERM"}, nil, "refuses mounts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := space(t)
			args := append(append([]string{"run"}, c.flags...), "--", "touch", "marker")
			refuses(t, lacking(t, dir, c.things, args...), "")
			out, _ := lacking(t, dir, c.things, args...).CombinedOutput()
			if !strings.Contains(string(out), c.hint) {
				t.Errorf("no %q in %s", c.hint, out)
			}
			if _, err := os.Lstat(filepath.Join(dir, "marker")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

// TestRootWithoutCapabilities: where root has none, and could gain none, the backend landlock has nothing to take away.
func TestRootWithoutCapabilities(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	needTruncate(t)
	dir := space(t)
	evidence := filepath.Join(filepath.Dir(dir), "evidence.json")
	out, err := lacking(t, dir, []string{"capabilities:all"}, "run", "--backend", "landlock", "--evidence", evidence, "--", "touch", "marker").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "marker")); err != nil {
		t.Errorf("it did not run: %v", err)
	}
	if c := control(t, evidence, "privileges"); c.State != "enforced" || c.Reason != "" {
		t.Errorf("the evidence says %+v", c)
	}
}
