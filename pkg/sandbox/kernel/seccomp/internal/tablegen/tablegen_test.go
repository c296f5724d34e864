package tablegen

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated tables")

// TestTablesAreCurrent holds the committed tables equal to what the sources say.
func TestTablesAreCurrent(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(filepath.Join(strings.TrimSpace(string(dir)), "unix"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join("..", "..", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its sources say; run go test ./pkg/sandbox/kernel/seccomp/internal/tablegen -update", name)
		}
	}
}

func TestWidths(t *testing.T) {
	widths, err := parseWidths(prototypes)
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]uint16{
		"socket":  width32 | width32<<2 | width32<<4,
		"ioctl":   width32 | width32<<2,
		"clone":   width32, // the kernel takes the lower half of an unsigned long
		"unshare": 0,
		"mknod":   width16<<2 | width32<<4,
		"write":   width32,
		"uname":   0,
		"umount2": width32 << 2,
	} {
		if got, ok := widths[call]; !ok || got != want {
			t.Errorf("widths[%s] = %#x (%v), want %#x", call, got, ok, want)
		}
	}
}

func TestBadPrototypeIsAnError(t *testing.T) {
	if _, err := parseWidths("socket int\n"); err == nil {
		t.Error("no error")
	}
}
