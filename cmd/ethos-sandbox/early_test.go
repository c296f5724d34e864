package main

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ethos/cmd/ethos-sandbox/early"
	"ethos/pkg/session/dial"
	"ethos/pkg/shorttest"
)

// TestEarly: a command line that is requested before main is read by main in
// the same way, and asks for nothing else.
func TestEarly(t *testing.T) {
	shorttest.Long(t)
	words := []string{"run", "shell", "--session", "--session=w", "w", "auto:w", "--session=auto:w", "--", "true", "-c", "--deny-write", "--evidence", "--session=", "", "-w", "--dry-run", "--session=-x", "run"}
	taken := 0
	for n := range 200_000 {
		args := []string{"ethos-sandbox"}
		if n%2 > 0 {
			args = append(args, "run", "--session=w")
		}
		for range rand.IntN(7) {
			args = append(args, words[rand.IntN(len(words))])
		}
		name, argv, ok := early.Plain(args)
		if !ok {
			continue
		}
		taken++
		c, is := fastPath(args[1:]).(*runCmd)
		if !is {
			t.Fatalf("%q: main reads %#v", args, c)
		}
		main, _, err := dial.Wanted(string(c.Session))
		if err != nil || main != name || !slices.Equal(c.Argv.Words(), argv) {
			t.Fatalf("%q: %q %q, and main %q %q, %v", args, name, argv, main, c.Argv.Words(), err)
		}
		if c.Session, c.Argv = "", nil; !reflect.DeepEqual(c, &runCmd{}) {
			t.Fatalf("%q asks for more: %+v", args, c)
		}
	}
	if taken < 100 {
		t.Errorf("only %d command lines were requested early", taken)
	}
}
