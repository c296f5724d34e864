package e2e

import (
	"strings"
	"testing"
)

// TestSeccompProfileOfATool: a profile file that repo_config.yaml names for a tool reaches the kernel, and one that is not there ends the run before it begins.
func TestSeccompProfileOfATool(t *testing.T) {
	s := newSession(t)
	s.write("repo_config.yaml", "tools:\n  - id: maker\n    match: [mkdir]\n    capabilities: {sandbox_profile: workspace, seccomp_profile_path: narrow.json}\n")
	s.write("narrow.json", `{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":1}]}`)
	const pipe = "ethos-facts -- mkdir made | ethos-decide | ethos-sandbox"
	if o := s.shell(pipe); o.status != 1 || !strings.Contains(o.stdout, "Operation not permitted") || !strings.Contains(o.stdout, `deny-privilege and `+s.dir+"/narrow.json") {
		t.Errorf("%s", o)
	}
	s.shell("rm narrow.json && test ! -e made").mustSucceed(t)
	if o := s.shell(pipe); o.status != 1 || !strings.Contains(o.stdout, `"status":"denied","reason":"sandbox.declaration"`) {
		t.Errorf("%s", o)
	}
	s.write("narrow.json", `{"defaultAction":"SCMP_ACT_ALLOW"}`)
	s.shell(pipe + " && test -d made").mustSucceed(t)
}
