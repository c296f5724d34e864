package prove

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMinimize takes random sets, of which random parts are needed together, or
// one of two parts: what is left passes, and no member of it can go.
func TestMinimize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		all := r.Perm(1 + r.IntN(12))
		ways := [][]int{all[:r.IntN(len(all)+1)], all[len(all)-r.IntN(len(all)+1):]}
		runs := 0
		passes := func(set []int) (bool, error) {
			runs++
			return slices.ContainsFunc(ways, func(way []int) bool {
				return !slices.ContainsFunc(way, func(m int) bool { return !slices.Contains(set, m) })
			}), nil
		}
		got, err := minimize(all, passes)
		if ok, _ := passes(got); err != nil || !ok || runs > len(all)*len(all)+4*len(all)+4 {
			t.Fatalf("%v of %v for %v: %v, %d runs", got, all, ways, err, runs)
		}
		for i := range got {
			if ok, _ := passes(append(append([]int{}, got[:i]...), got[i+1:]...)); ok {
				t.Fatalf("%v of %v for %v: %d can go", got, all, ways, got[i])
			}
		}
	}
}

// TestMinimizeStops: an error ends it.
func TestMinimizeStops(t *testing.T) {
	enough, left := errors.New("enough"), 3
	_, err := minimize([]int{1, 2, 3, 4, 5, 6, 7}, func([]int) (bool, error) {
		if left--; left < 0 {
			return false, enough
		}
		return false, nil
	})
	if !errors.Is(err, enough) || left != -1 {
		t.Errorf("%v, %d", err, left)
	}
}
