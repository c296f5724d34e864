package control

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// TestPersonal: settings that name a place in each work tree are found in the files that the
// person's configuration includes, too.
func TestPersonal(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".gitconfig": "[include]\n\tpath = ~/more\n[core]\n\teditor = vim\n[includeIf \"gitdir:~/x/\"]\n\tpath = work\n",
		"more":       "[core]\n\thooksPath = .githooks\n[include]\n\tpath = .gitconfig\n[alias]\n\ta = !/abs/program\n",
		"work":       "[filter \"z\"]\n\tclean = tools/z\n[core]\n\thooksPath = ~/hooks\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range personal(home) {
		got = append(got, e.Key+"="+e.Value)
	}
	if want := []string{"core.hookspath=.githooks", "filter.z.clean=tools/z"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
