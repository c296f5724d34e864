package seccomp

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestAsm keeps the text of the default profile's program: a change of the program shows in review.
func TestAsm(t *testing.T) {
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		got := compile(t, DenyPrivilege(), arch).Asm(arch)
		path := filepath.Join("testdata", "deny-privilege-"+arch.String()+".asm")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs (-want +got); run with -update if this is meant:\n%s", path, diff)
		}
	}
}
