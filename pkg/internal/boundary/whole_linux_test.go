package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// saidBy runs a program in a directory, and returns what it said and its status.
func saidBy(t *testing.T, program, dir, input string, args ...string) (out, errs string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(input), &stdout, &stderr
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_RUNTIME_DIR=", "ETHOS_MODE=")
	_ = cmd.Run() // its status is compared
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// TestUnlinkedEgress: what makes a start slow is not in the program that is
// released as ethos-sandbox.
func TestUnlinkedEgress(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-tags", "noegress,nomodel", "ethos/cmd/ethos-sandbox").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	for _, heavy := range []string{"net/http", "crypto/tls", "ethos/pkg/egress", "ethos/pkg/catalog/shipped", "github.com/alecthomas/kong"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("%s is linked", heavy)
		}
	}
}

// TestAlone: which command lines ethos-sandbox handles without ethos-egress.
func TestAlone(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	whole, err := program()
	if err != nil {
		t.Fatal(err)
	}
	program, dir := filepath.Join(t.TempDir(), "ethos-sandbox"), t.TempDir()
	if err := exec.Command("cp", whole, program).Run(); err != nil {
		t.Fatal(err)
	}
	const missing = "ethos-egress: no such file"
	for line, alone := range map[string]bool{
		"--version":                               true,
		"--help":                                  false,
		"plan -- true":                            false,
		"run --help":                              false,
		"run --nett none -- true":                 false,
		"run -- true":                             true,
		"run --net host -- true":                  true,
		"run --net proxy -- true":                 false,
		"run --allow-domain example.org -- true":  false,
		"run --session none -- true":              true,
		"session list":                            false,
		"session serve none":                      false,
		"session start --allow-domain e.org":      false,
		"shell --session none -c id":              true,
		"shell --session=none --record x -c id":   true,
		"shell --session none --net none -c id":   false,
		"shell -c id":                             false,
		"shell --record 0 -c 'id --session none'": false,
		"learn -- true":                           false,
		"worker":                                  false,
		"workspace list":                          false,
		"":                                        false,
		"--jobs 2":                                false,
		"pipe":                                    false,
	} {
		_, errs, status := saidBy(t, program, dir, "", strings.Fields(line)...)
		if strings.Contains(errs, missing) == alone || !alone && (status == 0 || !strings.Contains(errs, "install ethos-egress beside")) {
			t.Errorf("%s: status %d, %s", line, status, errs)
		}
	}
}

// TestHandsOver: the two programs do what the program with everything does.
func TestHandsOver(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	odd := "a b\n\xff"
	if out, errs, status := saidBy(t, program, dir, "in", "run", "--allow-domain", "example.org", "--", "sh", "-c", `cat; printf %s "$1"; exit 7`, "x", odd); out != "in"+odd || status != 7 {
		t.Errorf("%q, %s, %d", out, errs, status)
	}
	out, errs, status := saidBy(t, program, dir, "", "run", "--allow-domain", "example.org", "--evidence", "/dev/stdout", "--", "true")
	if !strings.Contains(out, `"name":"egress","requested":"allow example.org","enforced":"allow example.org","state":"enforced"`) || status != 0 {
		t.Errorf("%s %s %d", out, errs, status)
	}
	defer saidBy(t, program, dir, "", "session", "end", "--all")
	if _, errs, status := saidBy(t, program, dir, "", "session", "start", "--plain-git", "--name", "s", "--allow-domain", "example.org"); status != 0 {
		t.Fatal(errs)
	}
	if _, errs, status := saidBy(t, program, dir, "", "run", "--nett", "none", "--", "true"); status != 125 || !strings.Contains(errs, "did you mean --net?") {
		t.Errorf("a misspelt flag: %d, %s", status, errs)
	}
	for _, line := range []string{"run --session s -- true", "run --session s --deny-write /usr -- true", "run --session s --net none -- true", "shell --session s --undecided --plain-git -c true", "session show s"} {
		if _, errs, status := saidBy(t, program, dir, "", strings.Fields(line)...); status != 0 {
			t.Errorf("%s: %d, %s", line, status, errs)
		}
	}
	if _, errs, status := saidBy(t, program, dir, "not a record\n"); status == 0 || !strings.Contains(errs, "not records") {
		t.Errorf("the pipe: %d, %s", status, errs)
	}
}
