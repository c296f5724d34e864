package control

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"ethos/pkg/sandbox/quarantine"
)

// TestDenialsNameWhatIsInEffect: of more findings than are named, those are that
// are still in effect; and one that stands for others counts as many.
func TestDenialsNameWhatIsInEffect(t *testing.T) {
	var found []quarantine.Finding
	for i := range maxFindings + 10 {
		found = append(found, quarantine.Finding{Path: fmt.Sprintf("/w/%d", i), What: "a hook", Aside: "/w/kept"})
	}
	if list := denials(found[:maxFindings]); len(list) != maxFindings || list[0].Path != "/w/0" || list[maxFindings-1].Path != fmt.Sprint("/w/", maxFindings-1) {
		t.Errorf("%d denials", len(list))
	}
	found = append(found, quarantine.Finding{Path: "/w/bad", What: "a hook", Err: fs.ErrPermission}, quarantine.Finding{Path: "/w", What: "1000 more", Aside: "/w/kept", More: 1000})
	list := denials(found)
	if len(list) != maxFindings+1 || list[0].Path != "/w/bad" || list[1].Path != "/w/0" {
		t.Fatalf("%d denials, first %s", len(list), list[0].Path)
	}
	if last := list[maxFindings]; last.What != "1011 more" {
		t.Errorf("%s", last.What)
	}
	list = denials(found[len(found)-1:])
	if d := list[0]; d.Kept != "" || !strings.Contains(d.Remedy, "/w/kept") || strings.Contains(d.Remedy, "mv ") {
		t.Errorf("%+v", d)
	}
}
