package mount

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// TestFewDescriptors: the descriptors that are open at a time do not grow with the mounts that a command can cause.
func TestFewDescriptors(t *testing.T) {
	for _, c := range []struct{ hidden, most int }{{3, 40}, {100, 60}, {5000, 60}} {
		mounts := []Mount{{Kind: Bind, Target: "/usr", Source: "/usr"}, {Kind: Bind, Target: "/w", Source: "/w", Writable: true}}
		needed := map[string]bool{"/usr": true, "/w": true, "/w/ro": true}
		for i := range c.hidden {
			dir := fmt.Sprintf("/w/%d", i)
			mounts = append(mounts, Mount{Kind: Bind, Target: dir, Source: dir, Writable: true}, Mount{Kind: Mask, Target: dir + "/.env", File: true})
		}
		mounts = append(mounts, Mount{Kind: Bind, Target: "/w/ro", Source: "/w/ro", File: true})
		Sort(mounts)
		built := Steps(nil, mounts, Options{OpenFiles: 256, Needed: func(m *Mount) bool { return needed[m.Target] }}, &steps.Slots{})
		open, peak := map[steps.Slot]bool{}, 0
		for _, s := range built.Steps {
			if s.Save != 0 {
				open[s.Save] = true
			}
			if s.Nr == unix.SYS_CLOSE {
				for slot := range open {
					if s.Args[0] == steps.From(slot) {
						delete(open, slot)
					}
				}
			}
			peak = max(peak, len(open))
		}
		if peak > c.most {
			t.Errorf("%d hidden: %d descriptors at a time", c.hidden, peak)
		}
		for target := range needed {
			if slot, ok := built.Trees[target]; !ok || !open[slot] {
				t.Errorf("%d hidden: the descriptor of %s is closed", c.hidden, target)
			}
		}
	}
}
