package capability

import (
	"slices"
	"testing"
)

// TestConfiguredSockets gives an action the sockets of the configuration, says
// so, and takes them away where nothing is changed.
func TestConfiguredSockets(t *testing.T) {
	var config Repository
	config.Adds.UnixSockets = []string{"~/db/s.sock?"}
	space := Space{Workspace: "/home/u/w", Home: "/home/u"}
	for mode, want := range map[string][]string{"safe": config.Adds.UnixSockets, "plan": nil} {
		s, err := Effective(config, Request{Mode: mode, Space: space})
		if err != nil || !slices.Equal(s.UnixSockets, want) {
			t.Errorf("%s: %v, %v", mode, s.UnixSockets, err)
		}
		if by := slices.Contains(s.GrantedBy, ConfigName+":sandbox.unix_sockets"); mode == "safe" && !by {
			t.Errorf("%s: granted by %v", mode, s.GrantedBy)
		}
	}
}
