package capability

import (
	"testing"

	"ethos/pkg/record"
)

// TestInMode: of two modes the stricter one is never wider, and each is stricter
// than the next in what it is named for.
func TestInMode(t *testing.T) {
	sets := map[string]Set{}
	for i, mode := range record.Modes() {
		s, err := known(DefaultProfile)
		if err != nil {
			t.Fatal(err)
		}
		s = inMode(mode, space, s)
		for _, stricter := range record.Modes()[:i] {
			if over := Widens(space, s, sets[stricter]); len(over) > 0 {
				t.Errorf("%s goes past %s: %v", stricter, mode, over)
			}
			if met := Narrow(space, sets[stricter], s); len(Widens(space, sets[stricter], met)) > 0 {
				t.Errorf("%s within %s is still past it", mode, stricter)
			}
		}
		sets[mode] = s
	}
	writes := func(mode string) bool { return PathAccess(space, sets[mode], "/w/a").Write == Granted }
	if writes(record.ModePlan) || !writes(record.ModeVerify) || !writes(record.ModeSafe) {
		t.Error("plan writes to the work space, or another mode does not")
	}
	if sets[record.ModeVerify].View != CopyOnWrite || sets[record.ModeSafe].View != "" {
		t.Error("verify has no view, or safe has one")
	}
	for mode, s := range sets {
		if reachesOut(&s) {
			t.Errorf("%s reaches %s", mode, s.Network.Mode)
		}
	}
}

// TestEffectiveInVerify: whatever a person grants, and whatever a parent has, the
// view stays.
func TestEffectiveInVerify(t *testing.T) {
	for _, r := range []Request{
		{Mode: record.ModeVerify, Space: space},
		{Mode: record.ModeVerify, Space: space, Profile: "build", Grants: []string{"write=/opt", "network=host"}},
		{Mode: record.ModeVerify, Space: space, Parent: &Set{}},
		{Mode: record.ModeSafe, Space: space, Parent: &Set{View: CopyOnWrite}},
	} {
		if s, err := Effective(Repository{}, r); err != nil || s.View != CopyOnWrite {
			t.Errorf("%+v: view %q, %v", r, s.View, err)
		}
	}
	if s, err := Effective(Repository{}, Request{Mode: record.ModeSafe, Space: space}); err != nil || s.View != "" {
		t.Errorf("safe: view %q, %v", s.View, err)
	}
}
