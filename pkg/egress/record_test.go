package egress

import (
	"testing"

	"ethos/pkg/egress/rule"
	"ethos/pkg/record"
)

// TestRecordKnowsOurWords holds that the evidence tells a failure from a refusal
// as the gateway does, and names its doors.
func TestRecordKnowsOurWords(t *testing.T) {
	refusals := []rule.Reason{
		rule.NotAllowed, rule.Denied, rule.DeniedAddress, BadRequest, UnknownTarget,
		DeniedSNI, BadHello, HiddenName, DeniedRequest, DeniedHost,
	}
	for _, reason := range refusals {
		if c := (record.Connection{Reason: string(reason)}); !c.Refused() {
			t.Errorf("%s is no refusal to the record", reason)
		}
	}
	for _, reason := range []rule.Reason{Unresolved, Unreachable, UpstreamError, Overloaded, Interrupted, Stopped} {
		if c := (record.Connection{Reason: string(reason)}); c.Refused() {
			t.Errorf("%s is a refusal to the record", reason)
		}
	}
	if record.ConnectionDenied != string(rule.Denied) {
		t.Errorf("the record calls a deny rule %s", record.ConnectionDenied)
	}
	for door, want := range map[Door]string{
		DoorTransparent: record.DoorTransparent, DoorConnect: record.DoorConnect, DoorHTTP: record.DoorHTTP,
		DoorSOCKS5: record.DoorSOCKS5, DoorDNS: record.DoorDNS,
	} {
		if string(door) != want {
			t.Errorf("the record calls the door %s %s", door, want)
		}
	}
}
