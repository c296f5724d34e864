package shorttest

import (
	"maps"
	"slices"
	"testing"
)

func TestSample(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e"}
	want := cases
	if testing.Short() {
		want = []string{"a", "c", "e"}
	}
	if got := Sample(cases, 2); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := slices.Sorted(maps.Keys(SampleMap(map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, 2))); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
