package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// TestTornAtEveryByte is a writer that died at each byte of its line, before and after it could move the head.
func TestTornAtEveryByte(t *testing.T) {
	shorttest.Long(t)
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, testDay, "a", "b")
	file, headPath := filepath.Join(dir, dayFile(testDay)), filepath.Join(dir, headFile)
	before, beforeHead := read(t, file), read(t, headPath)
	fill(t, dir, testDay, "c")
	after := read(t, file)
	for cut := len(before); cut <= len(after); cut++ {
		write(t, file, after[:cut])
		write(t, headPath, beforeHead)
		os.RemoveAll(filepath.Join(dir, "torn"))
		s := openAt(t, dir, testDay)
		if err := s.Append(testLine("d")); err != nil {
			t.Fatal(err)
		}
		s.release() // without waiting for the disk, hundreds of times
		want := []string{"a", "b", "d"}
		if cut == len(after) {
			want = []string{"a", "b", "c", "d"}
		}
		wantWhole(t, dir, want...)
		if torn := cut - len(before); torn > 0 && cut < len(after) {
			repairs := s.Repairs()
			if len(repairs) != 1 || repairs[0].Bytes != int64(torn) {
				t.Fatalf("cut at %d: repairs = %+v", cut, repairs)
			}
			if aside := read(t, filepath.Join(dir, repairs[0].Aside)); !bytes.Equal(aside, after[len(before):cut]) {
				t.Fatalf("cut at %d: set aside %q", cut, aside)
			}
		}
	}
}

// TestTornFirstLineOfDay is a writer that died in the first line of a new day, with the head still on the day before.
func TestTornFirstLineOfDay(t *testing.T) {
	shorttest.Long(t)
	dir := filepath.Join(t.TempDir(), "store")
	next := testDay.AddDate(0, 0, 1)
	fill(t, dir, testDay, "a")
	headBefore := read(t, filepath.Join(dir, headFile))
	fill(t, dir, next, "b")
	file := filepath.Join(dir, dayFile(next))
	whole := read(t, file)
	for _, cut := range []int{0, 1, len(whole) / 2, len(whole) - 1, len(whole)} {
		for _, lost := range []bool{false, true} {
			for _, later := range []int{1, 3} {
				t.Run(fmt.Sprintf("cut %d, head lost %v, %d days later", cut, lost, later), func(t *testing.T) {
					os.RemoveAll(filepath.Join(dir, dayFile(testDay.AddDate(0, 0, 3))))
					os.RemoveAll(filepath.Join(dir, "torn"))
					write(t, file, whole[:cut])
					write(t, filepath.Join(dir, headFile), headBefore)
					if lost {
						os.Remove(filepath.Join(dir, headFile))
					}
					fill(t, dir, testDay.AddDate(0, 0, later), "c")
					want := []string{"a", "c"}
					if cut == len(whole) {
						want = []string{"a", "b", "c"}
					}
					if lost {
						wantRestated(t, dir, want...)
					} else {
						wantWhole(t, dir, want...)
					}
				})
			}
		}
	}
}

// wantRestated holds that a store has these lines, and one of its own before the last one, which
// verification reports.
func wantRestated(t testing.TB, dir string, want ...string) {
	t.Helper()
	got := ids(t, dir)
	if own := len(got) - 2; own < 0 || !slices.Equal(slices.Delete(slices.Clone(got), own, own+1), want) {
		t.Errorf("ids = %q, want %q and one more", got, want)
	}
	if v := verify(t, dir); len(v.Faults) != 1 || v.Faults[0].Kind != FaultMissing || !strings.Contains(v.Faults[0].Detail, "record of the store's end") {
		t.Errorf("faults: %+v", v.Faults)
	}
}

// TestEndRemoved is a store whose last line and whose head were removed: the next writer says so, and
// verification reports it from then on, however many lines follow.
func TestEndRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, testDay, "a")
	file := filepath.Join(dir, dayFile(testDay))
	one := read(t, file)
	fill(t, dir, testDay, "b")
	write(t, file, one)
	if err := os.Remove(filepath.Join(dir, headFile)); err != nil {
		t.Fatal(err)
	}
	s := fill(t, dir, testDay, "c")
	if list := s.Repairs(); len(list) != 1 || list[0].Bytes != 0 || list[0].File != dayFile(testDay) {
		t.Errorf("repairs = %+v", list)
	}
	wantRestated(t, dir, "a", "c")
	if s := fill(t, dir, testDay.AddDate(0, 0, 1), "d", "e"); len(s.Repairs()) != 0 {
		t.Errorf("again: %+v", s.Repairs())
	}
	v := verify(t, dir)
	if len(v.Faults) != 1 || v.Faults[0].At != dayFile(testDay)+":2" {
		t.Errorf("faults: %+v", v.Faults)
	}
}

// TestFirstWriterDies is a writer that died at each byte of a store's first line, and before it: nothing
// is missing then.
func TestFirstWriterDies(t *testing.T) {
	for _, moved := range []bool{false, true} { // the head
		dir := filepath.Join(t.TempDir(), "store")
		s := openAt(t, dir, testDay)
		if err := s.locked(func() error { _, _, err := s.end(); return err }); err != nil {
			t.Fatal(err)
		}
		s.release()
		first := read(t, filepath.Join(dir, headFile))
		if v := verify(t, dir); len(v.Faults) != 0 {
			t.Errorf("before the first line: %+v", v.Faults)
		}
		fill(t, dir, testDay, "a")
		file := filepath.Join(dir, dayFile(testDay))
		whole := read(t, file)
		for _, cut := range []int{-1, 0, 1, len(whole) / 2, len(whole) - 1, len(whole)} {
			for _, days := range []int{0, 1} {
				os.RemoveAll(filepath.Join(dir, dayFile(testDay.AddDate(0, 0, 1))))
				os.RemoveAll(filepath.Join(dir, "torn"))
				want := []string{"c"}
				if cut < 0 {
					os.Remove(file)
				} else {
					write(t, file, whole[:cut])
				}
				if cut == len(whole) {
					want = []string{"a", "c"}
				}
				write(t, filepath.Join(dir, headFile), first)
				if !moved && cut < len(whole) {
					write(t, filepath.Join(dir, headFile), nil) // as before this version
				}
				s := fill(t, dir, testDay.AddDate(0, 0, days), "c")
				wantWhole(t, dir, want...)
				torn := 0
				if cut > 0 && cut < len(whole) {
					torn = 1
				}
				if len(s.Repairs()) != torn {
					t.Errorf("cut at %d: repairs = %+v", cut, s.Repairs())
				}
			}
		}
	}
}

func TestHeadNotBelieved(t *testing.T) {
	for name, damage := range map[string][]byte{
		"empty": {}, "cut": []byte("ethos-store/1 2026/03/01.ndj"), "garbage": bytes.Repeat([]byte{'x'}, headLen), "zero": make([]byte, headLen),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			fill(t, dir, testDay, "a", "b")
			write(t, filepath.Join(dir, headFile), damage)
			fill(t, dir, testDay, "c")
			wantRestated(t, dir, "a", "b", "c")
		})
	}
}

// TestShortened cuts whole lines off: the next line still names the lost one, and verification finds the gap.
func TestShortened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, testDay, "a")
	file := filepath.Join(dir, dayFile(testDay))
	one := read(t, file)
	fill(t, dir, testDay, "b")
	write(t, file, one)
	s := fill(t, dir, testDay, "c")
	if len(s.Repairs()) != 1 || s.Repairs()[0].Bytes != 0 {
		t.Errorf("repairs = %+v", s.Repairs())
	}
	v := verify(t, dir)
	if len(v.Faults) != 1 || v.Faults[0].Kind != FaultMissing || v.Faults[0].At != dayFile(testDay)+":2" {
		t.Errorf("faults = %+v", v.Faults)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
