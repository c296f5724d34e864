package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/steps"
)

// TestVerifyEgress: where a network is not local, a socket is missing or is at
// another place than the plan says, nothing runs.
func TestVerifyEgress(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := script(t, "echo ran > marker")
	spec.Network = record.Network{Mode: "proxy", AllowDomains: []string{"example.com"}}
	spec.Publish = []string{"39871:8000"}
	plan := mustBuild(t, spec)
	for name, c := range map[string]struct {
		before, call, want string // the call, after the first one about before
	}{
		"a route":       {"route 198.18.0.0/15", "sendto", "the network 198.18.0.0/15 is not local"},
		"a socket":      {"udp 127.0.0.1:53", "sendmsg", "udp 127.0.0.1:53: there is no such socket"},
		"another place": {"tcp 127.0.0.1:1021", "bind", "tcp 127.0.0.1:1021: it is bound to 0.0.0.0:"},
		"published":     {"publish", "sendmsg", "publish: 63 sockets of IPv4"},
	} {
		changed := 0
		r := &exec.Runner{Plan: plan, Tamper: func(p *steps.Program) {
			about := false
			for i := range p.Init {
				s := &p.Init[i]
				about = about || s.Object == c.before || s.Stage == c.before
				if about && s.Call == c.call && changed == 0 {
					*s = steps.Step{Stage: s.Stage, Call: s.Call, Nr: syscall.SYS_GETPID, Save: s.Save}
					changed++
				}
			}
		}}
		_, err := r.Run(t.Context())
		if refusal := (*Refusal)(nil); changed == 0 || !errors.As(err, &refusal) || refusal.Code != CodeVerify || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d calls changed: %v", name, changed, err)
		}
		if _, err := os.Lstat(filepath.Join(spec.Workspace, "marker")); err == nil {
			t.Fatalf("%s: the command ran", name)
		}
	}
}
