package policy

import (
	"context"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

var directRounds = flag.Int("direct", 500, "random records that TestDirect compares")

// chance fills records with what expressions ask for, so that both values of their parts occur.
type chance struct {
	*rand.Rand
	words []string
}

func (c chance) word() string {
	word := c.words[c.IntN(len(c.words))]
	switch c.IntN(12) {
	case 0:
		return ""
	case 1:
		return "/" + word
	case 2:
		return word + "/" + c.words[c.IntN(len(c.words))]
	case 3:
		return "-" + word
	}
	return word
}

// fill sets an addressable value, with lists of at most three elements. Types that contain
// themselves end at a depth.
func (c chance) fill(v reflect.Value, depth int) {
	switch {
	case depth > 8:
		return
	case isRaw(v.Type()):
		v.SetBytes([]byte(`{"command":"x"}`))
		return
	case v.Type() == reflect.TypeFor[record.Actor]():
		mode := Modes()[c.IntN(len(Modes()))]
		v.Set(reflect.ValueOf(record.Actor{Mode: mode, Agent: c.word(), Tool: c.word(), Event: c.word(), Confined: c.IntN(2) == 0, AdminApproved: c.IntN(4) == 0}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(c.word())
	case reflect.Bool:
		v.SetBool(c.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(c.IntN(5)) - 1)
	case reflect.Float64:
		v.SetFloat(c.Float64())
	case reflect.Pointer:
		if c.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := c.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			c.fill(v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.fill(v.Field(i), depth+1)
			}
		}
	}
}

func (c chance) input() *Input {
	in := &Input{Action: new(record.Action), Actor: new(record.Actor), Facts: new(record.Facts)}
	c.fill(reflect.ValueOf(in).Elem(), 0)
	if in.Action == nil || in.Actor == nil || in.Facts == nil {
		return c.input()
	}
	in.Action.Kind = defaultKinds()[c.IntN(len(defaultKinds()))]
	return in
}

// literalsOf lists the strings in an expression, and paths of its constants.
func literalsOf(n *node) (all []string) {
	if text, ok := n.value.(string); ok {
		all = append(all, strings.Trim(strings.ReplaceAll(text, "**", "a"), "^$"))
	}
	patterns, _ := constant(n.name)
	for _, p := range patterns {
		all = append(all, strings.ReplaceAll(p, "**", "a"))
	}
	for _, part := range n.of {
		all = append(all, literalsOf(part)...)
	}
	return all
}

// everyShipped returns all shipped policies, with their trees read.
func everyShipped(t *testing.T) (rules []*rule) {
	t.Helper()
	for _, pack := range Packs() {
		rules = append(rules, shippedRules(pack)...)
	}
	for _, r := range rules {
		r.expr.value(t.Context(), chance{rand.New(rand.NewPCG(0, 0)), []string{""}}.input())
		if r.expr.beyond {
			t.Errorf("%s needs CEL: its expression has a construct that direct evaluation does not have", r.ID)
		}
	}
	return rules
}

// TestDirect compares direct evaluation with CEL over random records: what it knows is what CEL
// says, and it knows what CEL can evaluate.
func TestDirect(t *testing.T) {
	rules := everyShipped(t)
	var words []string
	for _, r := range rules {
		words = append(words, literalsOf(r.expr.root)...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	seed := rand.Uint64()
	t.Logf("seed %d, %d words", seed, len(words))
	random := chance{rand.New(rand.NewPCG(seed, 1)), words}
	bounds := Bounds{}.orDefault()
	matched, failed := map[string]int{}, 0
	for range *directRounds {
		in := random.input()
		vars := newActivation(in)
		for _, r := range rules {
			got, known := r.expr.value(context.Background(), in)
			said := r.expr.eval(context.Background(), vars, nil, bounds)
			switch {
			case known && (said.code != "" || said.matched != got):
				t.Fatalf("%s: direct evaluation says %v, CEL %+v, of %+v", r.ID, got, said, in)
			case !known && said.code == "":
				t.Fatalf("%s: direct evaluation does not know that CEL says %v", r.ID, said.matched)
			case said.code != "":
				failed++
			case got:
				matched[r.ID]++
			}
		}
	}
	t.Logf("%d of %d policies matched, %d evaluations failed", len(matched), len(rules), failed)
	if len(matched) < len(rules)/4 {
		t.Errorf("only %d of %d policies ever matched", len(matched), len(rules))
	}
}
