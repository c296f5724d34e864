package trace

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// TestVerifyNames changes a store of two days, a b c | d e f, in every way that is not an append.
func TestVerifyNames(t *testing.T) {
	shorttest.Long(t)
	first, second := dayFile(testDay), dayFile(testDay.AddDate(0, 0, 1))
	lines := func(text []byte) [][]byte {
		return bytes.SplitAfter(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'})
	}
	join := func(l ...[]byte) []byte {
		out := bytes.Join(l, nil)
		if !bytes.HasSuffix(out, []byte{'\n'}) {
			out = append(out, '\n')
		}
		return out
	}
	edit := func(file string, change func([][]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			l := lines(read(t, path))
			l[2] = append(slices.Clone(l[2]), '\n')
			write(t, path, change(l))
		}
	}
	cases := []struct {
		name   string
		change func(*testing.T, string)
		at     string
		kind   FaultKind
	}{
		{"changed byte", edit(first, func(l [][]byte) []byte {
			return join(l[0], bytes.Replace(l[1], []byte(`"echo"`), []byte(`"ECHO"`), 1), l[2])
		}), first + ":2", FaultChanged},
		{"removed in the middle", edit(first, func(l [][]byte) []byte { return join(l[0], l[2]) }), first + ":2", FaultMissing},
		{"removed first", edit(first, func(l [][]byte) []byte { return join(l[1], l[2]) }), first + ":1", FaultMissing},
		{"removed at a day's end", edit(first, func(l [][]byte) []byte { return join(l[0], l[1]) }), second + ":1", FaultMissing},
		{"removed at the end", edit(second, func(l [][]byte) []byte { return join(l[0], l[1]) }), second, FaultTruncated},
		{"swapped", edit(first, func(l [][]byte) []byte { return join(l[0], l[2], l[1]) }), first + ":3", FaultReordered},
		{"doubled", edit(first, func(l [][]byte) []byte { return join(l[0], l[1], l[1], l[2]) }), first + ":3", FaultReordered},
		{"foreign line", edit(first, func(l [][]byte) []byte { return join(l[0], []byte("{\"id\":\"x\"}\n"), l[1], l[2]) }), first + ":2", FaultForeign},
		{"torn", edit(second, func(l [][]byte) []byte { return slices.Concat(l[0], l[1], l[2], []byte(`{"sch`)) }), second + ":4", FaultTorn},
		{"cut in the last line", edit(second, func(l [][]byte) []byte { return slices.Concat(l[0], l[1], l[2][:40]) }), second + ":3", FaultTorn},
		{"day removed", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, first)) }, second + ":1", FaultMissing},
		{"last day removed", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, second)) }, second, FaultTruncated},
		{"end not recorded", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, headFile)) }, headFile, FaultMissing},
		{"seal computed anew", edit(first, func(l [][]byte) []byte {
			text := bytes.Replace(l[1], []byte(`"echo"`), []byte(`"ECHO"`), 1)
			prev, _, _ := readSeal(text[:len(text)-1])
			forged, _ := seal(append(text[:len(text)-1-sealLen:len(text)-1-sealLen], '}'), prev)
			return join(l[0], forged, l[2])
		}), first + ":3", FaultMissing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			fill(t, dir, testDay, "a", "b", "c")
			fill(t, dir, testDay.AddDate(0, 0, 1), "d", "e", "f")
			wantWhole(t, dir, "a", "b", "c", "d", "e", "f")
			c.change(t, dir)
			faults := verify(t, dir).Faults
			if !slices.ContainsFunc(faults, func(f Fault) bool { return f.At == c.at && f.Kind == c.kind }) {
				t.Errorf("faults = %+v, want %s at %s", faults, c.kind, c.at)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	day := func(n int) time.Time { return testDay.AddDate(0, 0, n) }
	fill(t, dir, day(0), "a", "b")
	fill(t, dir, day(1), "c")
	fill(t, dir, day(40), "d")
	s := openAt(t, dir, day(41))
	p, err := s.Prune(day(40))
	if err != nil {
		t.Fatal(err)
	}
	if p.Lines != 3 || !slices.Equal(p.Files, []string{dayFile(day(0)), dayFile(day(1))}) {
		t.Errorf("pruned %+v", p)
	}
	s.Close()
	v := verify(t, dir)
	if len(v.Faults) != 0 || v.Pruned != 3 {
		t.Errorf("verification = %+v", v)
	}
	if _, err := os.Stat(filepath.Join(dir, "2026/03")); err == nil {
		t.Error("the empty month is still there")
	}
	t.Run("again", func(t *testing.T) {
		fill(t, dir, day(50), "e")
		s := openAt(t, dir, day(60))
		defer s.Close()
		if _, err := s.Prune(day(50)); err != nil {
			t.Fatal(err)
		}
		if v := verify(t, dir); len(v.Faults) != 0 {
			t.Errorf("faults = %+v", v.Faults)
		}
	})
	t.Run("more than was pruned is missed", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, dayFile(day(50)))); err != nil {
			t.Fatal(err)
		}
		if v := verify(t, dir); len(v.Faults) == 0 {
			t.Error("no fault")
		}
	})
}

func TestPruneKeepsWhatIsYoung(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, testDay, "a")
	s := openAt(t, dir, testDay)
	defer s.Close()
	p, err := s.Prune(testDay.AddDate(1, 0, 0))
	if err != nil || len(p.Files) != 0 {
		t.Errorf("the file that is written to was pruned: %+v, %v", p, err)
	}
	wantWhole(t, dir, "a")
}
