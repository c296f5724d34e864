// Package probetest is the only place in which a test may skip.
//
// A test declares what it needs with [Need]. If the machine lacks it, the test is skipped and the
// lack is printed, unless the environment variable ETHOS_REQUIRE lists that need (comma separated,
// or "all"): then the test fails. Continuous integration sets ETHOS_REQUIRE, so that a lane cannot
// pass by running nothing.
//
// Slow tests are left to `make test-all`: [Whole] checks the flag -short, which `make test` sets,
// and so does package shorttest, which selects a sample of cases.
package probetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The needs that a test can declare, in addition to "command:NAME" for a program on PATH and
// "file:PATH".
const (
	Root   = "root"   // effective user id 0
	User   = "user"   // an ordinary user
	UserNS = "userns" // unprivileged user namespaces
)

// OneUser is an environment variable. Where it is set, tests that root runs do not run a second time
// as an ordinary user. That second run has it set, too.
const OneUser = "ETHOS_TEST_ONE_USER"

// Need skips t, or fails it under ETHOS_REQUIRE, unless every need is met. A need is one of the
// constants, "command:NAME" or "file:PATH". For other needs with a probe of their own, use
// [NeedFunc].
func Need(t testing.TB, needs ...string) {
	t.Helper()
	for _, need := range needs {
		if reason := lacking(need); reason != "" {
			lack(t, need, reason)
		}
	}
}

// NeedFunc is like [Need] for a need with its own probe: probe returns "" if the need is met, else
// the reason.
func NeedFunc(t testing.TB, need string, probe func() string) {
	t.Helper()
	if reason := probe(); reason != "" {
		lack(t, need, reason)
	}
}

// Whole skips t in a short run, in which a sample elsewhere represents the suite.
func Whole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-all runs it")
	}
}

func lack(t testing.TB, need, reason string) {
	t.Helper()
	if Required(os.Getenv("ETHOS_REQUIRE"), need) {
		t.Fatalf("needs %s: %s (ETHOS_REQUIRE forbids the skip)", need, reason)
	}
	t.Skipf("needs %s: %s", need, reason)
}

// Required reports whether the list forbids a skip for need. "command" covers every "command:NAME".
func Required(list, need string) bool {
	kind, _, _ := strings.Cut(need, ":")
	for item := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(item) {
		case "all", need, kind:
			return true
		}
	}
	return false
}

func lacking(need string) string {
	if name, ok := strings.CutPrefix(need, "command:"); ok {
		if _, err := exec.LookPath(name); err != nil {
			return err.Error()
		}
		return ""
	}
	if name, ok := strings.CutPrefix(need, "file:"); ok {
		if _, err := os.Stat(name); err != nil {
			return err.Error()
		}
		return ""
	}
	switch need {
	case Root:
		if os.Geteuid() != 0 {
			return "not running as root"
		}
	case User:
		if os.Geteuid() == 0 {
			return "running as root"
		}
	case UserNS:
		return userNamespaces()
	default:
		return "unknown need"
	}
	return ""
}
