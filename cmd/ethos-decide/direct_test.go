package main

import (
	"context"
	"reflect"
	"testing"

	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// TestDirectDecidesLikeCEL decides every command of the corpora twice, with all packs: as usual, and with CEL for each expression whose need is
// met, which other bounds bring about.
func TestDirectDecidesLikeCEL(t *testing.T) {
	shorttest.Long(t)
	c := newCourt(t)
	usual := loaded(t, policy.Packs()...)
	cel, err := policy.Load(policy.Options{Packs: policy.Packs(), Bounds: policy.Bounds{Cost: 2_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range []string{"everyday.txt", "harmful.txt", "programs-everyday.txt", "programs.txt"} {
		for _, s := range shorttest.Sample(samples(t, file), 5) {
			in := c.record(t, s.command, record.Modes()[n%len(record.Modes())])
			in.Actor.Confined = n%3 == 0
			n++
			got, want := usual.Decide(context.Background(), in), cel.Decide(context.Background(), in)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %q: %+v, and with CEL %+v", s.place, s.command, got, want)
			}
		}
	}
	t.Logf("%d commands", n)
}
