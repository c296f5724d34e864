package plan

import (
	"testing"

	"ethos/pkg/sandbox/kernel/mount"
)

func TestThroughLink(t *testing.T) {
	link := mount.Mount{Kind: mount.Symlink, Target: "/var/tmp", Source: "/tmp"}
	for target, want := range map[string]string{"/var/tmp/space": "/var/tmp", "/var/tmp": "/var/tmp", "/var/tmpdir": "", "/var": "", "/tmp/space": ""} {
		if got, _ := throughLink([]mount.Mount{{Kind: mount.Bind, Target: target}, link}); got != want {
			t.Errorf("%s: %q, not %q", target, got, want)
		}
	}
	if got, _ := throughLink([]mount.Mount{link, {Kind: mount.Symlink, Target: "/var/run", Source: "/run"}}); got != "" {
		t.Errorf("beside each other: %q", got)
	}
}
