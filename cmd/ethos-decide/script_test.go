package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/hook"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ethos-decide": main,
		"facts":        factsMain,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: shorttest.Scripts(t, "testdata/script", 4),
		Setup: func(env *testscript.Env) error {
			home, err := os.MkdirTemp("", "ethos-home-") // beside the work space, not in it
			env.Defer(func() { os.RemoveAll(home) })
			env.Setenv("HOME", home)
			env.Setenv("ETHOS_MODE", "")
			env.Setenv("ETHOS_STORE", env.WorkDir+"/store") // the events' work spaces are of no machine
			return err
		},
		UpdateScripts: *update,
	})
}

// factsMain is the part of ethos-facts that the scripts need: `facts SCRIPT` and `facts --from AGENT`, with a fixed id and time.
func factsMain() {
	cli.MainRaw("facts", func(_ context.Context, sys *cli.System, args []string) cli.Status {
		e := hook.Event{Action: record.Action{Kind: record.KindShell, Script: args[0], Cwd: sys.Dir}}
		if len(args) == 2 {
			text, err := hook.NewDocuments(sys.Stdin).Next()
			if err != nil {
				panic(err)
			}
			if e, err = hook.Decode(args[1], text, sys.Dir); err != nil {
				panic(err)
			}
		}
		if e.Actor.Mode == "" {
			e.Actor.Mode = record.ModeSafe
		}
		if p := e.Actor.Parent; p != nil && p.Mode == "" {
			p.Mode = record.ModeSafe
		}
		l, err := derived(e, sys.Getenv("HOME"))
		if err != nil {
			panic(err)
		}
		if _, err := sys.Stdout.Write(l.AppendTo(nil)); err != nil {
			return cli.NegativeStatus
		}
		return cli.OK
	})
}

func derived(e hook.Event, home string) (*record.Line, error) {
	d, err := facts.New(facts.Options{Home: home, Git: gitrepo.Options{Home: home}})
	if err != nil {
		return nil, err
	}
	if e.Action, err = d.Place(e.Action); err != nil {
		return nil, err
	}
	f, err := d.Derive(e.Action, e.Actor)
	if err != nil {
		return nil, err
	}
	l := record.NewLine("0190a000-0000-7000-8000-000000000001", time.Unix(1_800_000_000, 0), e.Action, e.Actor)
	return l, l.Set("facts", f)
}
