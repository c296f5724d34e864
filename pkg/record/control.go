package record

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/nearest"
)

// controls are the names that a [Control] of the evidence has, in its order.
var controls = []string{
	"userns", "workspace", "mount", "pid", "ipc", "uts", "cgroupns", "network", "egress", "publish", "ports", "privileges", "landlock", "seccomp", "unix_sockets",
	"git_signing", "cgroup", "rlimits", "timeout", "output", "caches", "environment",
}

// Controls lists the names of the controls, in the order of the evidence.
func Controls() []string { return slices.Clone(controls) }

// UnknownControl reports whether no control has this name. The hint lists the controls, after the
// one that was probably meant.
func UnknownControl(name string) (hint string, unknown bool) {
	if slices.Contains(controls, name) {
		return "", false
	}
	hint = "the controls are " + strings.Join(controls, ", ")
	if meant := nearest.Name(name, controls); meant != "" {
		hint = fmt.Sprintf("did you mean %q? %s", meant, hint)
	}
	return hint, true
}
