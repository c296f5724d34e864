package inherited

import (
	"os"
	"os/exec"
	"testing"
)

// TestHas starts this program again, with a pipe as descriptor 3.
func TestHas(t *testing.T) {
	if os.Getenv("ETHOS_TEST_INHERITED") != "" {
		own, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		for fd, want := range map[int]bool{-1: false, 0: true, 3: true, int(own.Fd()): false, 900: false} {
			if Has(fd) != want {
				t.Errorf("descriptor %d: inherited is not %t", fd, want)
			}
		}
		if _, err := File(3, "three").WriteString("here"); err != nil {
			t.Error(err)
		}
		if f := File(int(own.Fd()), "own"); f != nil {
			t.Errorf("%s is taken for an inherited one", f.Name())
		}
		return
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestHas$")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), "ETHOS_TEST_INHERITED=1"), []*os.File{in}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	in.Close()
	text := make([]byte, 5)
	if n, err := out.Read(text); string(text[:n]) != "here" {
		t.Errorf("read %q, %v", text[:n], err)
	}
}
