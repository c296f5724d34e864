package lab

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

func TestCompareVersions(t *testing.T) {
	ordered := []string{"linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-10-cloud-amd64", "linux-image-6.12.9+deb12-cloud-amd64", "linux-image-6.12.117+deb12-cloud-amd64"}
	for i := range ordered[1:] {
		if compareVersions(ordered[i], ordered[i+1]) >= 0 || compareVersions(ordered[i+1], ordered[i]) <= 0 {
			t.Errorf("%s is not before %s", ordered[i], ordered[i+1])
		}
	}
}

func TestArchiveIsReadByCpio(t *testing.T) {
	probetest.Need(t, "command:cpio")
	var a Archive
	a.File("/a/b/file", 0o755, []byte("hello"))
	a.Link("a/link", "b/file")
	a.Dir("empty", 0o700)
	var buf bytes.Buffer
	if _, err := a.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cpio", "--extract", "--make-directories", "--quiet")
	cmd.Dir, cmd.Stdin = t.TempDir(), &buf
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shown, err := exec.Command("sh", "-c", "cd "+cmd.Dir+" && cat a/link && stat -c '%a %F' a/b/file empty").CombinedOutput()
	if got, want := string(shown), "hello755 regular file\n700 directory\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestReadTallyTrustsOnlyAFullCount(t *testing.T) {
	plan := Plan{Cases: []Case{{Name: "one"}, {Name: "two"}}}
	whole := []string{"SeaBIOS", BeginMark("one"), "text", EndMark("one", 0, time.Second), BeginMark("two"), EndMark("two", 3, 0), TallyMark(2, 1, 1)}
	tally, err := ReadTally(strings.NewReader(strings.Join(whole, "\r\n")), plan)
	if err != nil || tally.Failed != 1 || tally.Results[0].Output != "text\n" || tally.Results[0].Took != time.Second || tally.Results[1].Status != 3 {
		t.Fatalf("%+v, %v", tally, err)
	}
	for drop := 1; drop < len(whole); drop++ {
		if whole[drop] == "text" {
			continue
		}
		lines := append(append([]string{}, whole[:drop]...), whole[drop+1:]...)
		if _, err := ReadTally(strings.NewReader(strings.Join(lines, "\n")), plan); err == nil {
			t.Errorf("accepted a console without %q", whole[drop])
		}
	}
	for name, tallyLine := range map[string]string{"wrong sum": TallyMark(2, 2, 1), "fewer": TallyMark(1, 1, 0)} {
		lines := append(append([]string{}, whole[:len(whole)-1]...), tallyLine)
		if _, err := ReadTally(strings.NewReader(strings.Join(lines, "\n")), plan); err == nil {
			t.Errorf("accepted %s", name)
		}
	}
}

func TestFailures(t *testing.T) {
	passed := "=== RUN   TestA\n--- PASS: TestA (0.00s)\n[   12.345678] a message of the kernel\n"
	long := strings.Repeat("    a.txt:1: a line\n", 20)
	r := Result{Output: passed + long + "    --- FAIL: TestB/c (1.00s)\n--- FAIL: TestB (1.00s)\n" + passed + "panic: test timed out\n" + long + "FAIL\n"}
	want := strings.Repeat("    a.txt:1: a line\n", 12) + "    --- FAIL: TestB/c (1.00s)\n--- FAIL: TestB (1.00s)\npanic: test timed out\n"
	if got := r.Failures(); got != want {
		t.Errorf("%s", got)
	}
	if got := (Result{Output: passed + long}).Failures(); got != "" {
		t.Errorf("nothing failed: %s", got)
	}
}
