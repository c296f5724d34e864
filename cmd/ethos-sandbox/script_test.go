package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/view"
	"ethos/pkg/shorttest"
)

func TestMain(m *testing.M) {
	serveInside(os.Args) // bubblewrap starts the program by its descriptor, so testscript does not know its name
	testscript.Main(m, map[string]func(){"ethos-sandbox": main, "decided": decidedMain, "sign-gpg": main, "sign-ssh": main})
}

// deciding are this program and those that decide for it, in a folder of their own:
// beside the one that other scripts run stand none.
func deciding(dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "ethos/cmd/ethos-sandbox", "ethos/cmd/ethos-facts", "ethos/cmd/ethos-decide")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

func TestScripts(t *testing.T) {
	programs := t.TempDir()
	testscript.Run(t, testscript.Params{
		Files: shorttest.Scripts(t, "testdata/script", 4),
		Condition: func(name string) (bool, error) {
			switch name {
			case "landlock-abi-3": // what the backend landlock needs of the kernel
				kernel, err := landlock.Probe()
				return err == nil && kernel.ABI >= 3, nil
			case "upper": // a file system here carries the upper layer of a view
				home := t.TempDir()
				v, err := view.Create(view.Place{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }})
				if err == nil {
					err = v.Remove()
				}
				if errors.Is(err, view.ErrNoUpper) {
					return false, nil
				}
				return true, err
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Setup: func(env *testscript.Env) error {
			home, err := os.MkdirTemp("", "ethos-home-") // beside the work space, not in it
			env.Defer(func() { os.RemoveAll(home) })
			env.Setenv("HOME", home)
			if _, without := exec.LookPath("go"); err == nil && without == nil && filepath.Base(env.WorkDir) == "script-gitsigning" {
				env.Setenv("PATH", programs+string(filepath.ListSeparator)+env.Getenv("PATH"))
				err = deciding(programs)
			}
			return err
		},
	})
}

// decidedMain writes one decided record: decided [-verdict V] [-profile P] [-kind K] [-seccomp FILE] ARGV…
func decidedMain() {
	cli.MainRaw("decided", func(_ context.Context, sys *cli.System, args []string) cli.Status {
		flags := flag.NewFlagSet("decided", flag.ExitOnError)
		verdict := flags.String("verdict", record.VerdictAllow, "")
		profile := flags.String("profile", "workspace", "")
		kind := flags.String("kind", record.KindExec, "")
		write := flags.String("write", ".", "")
		filter := flags.String("seccomp", "", "")
		output := flags.Int64("output", 0, "")
		domain := flags.String("domain", "", "the one name that is allowed")
		if err := flags.Parse(args); err != nil {
			return cli.Usage
		}
		action := record.Action{Kind: *kind, Cwd: sys.Dir, Workspace: sys.Dir}
		switch *kind {
		case record.KindExec:
			action.Argv = flags.Args()
		case record.KindShell:
			action.Script = flags.Arg(0)
		case record.KindFetch:
			action.URL = flags.Arg(0)
		}
		l := record.NewLine("", time.Now(), action, record.Actor{Mode: record.ModeSafe})
		caps := record.Capabilities{SandboxProfile: *profile, WritePaths: []string{*write}, SeccompProfilePath: *filter, OutputBytes: *output, Network: record.Network{Mode: "none"}}
		if *domain != "" {
			caps.Network = record.Network{Mode: "proxy", AllowDomains: []string{*domain}}
		}
		if err := l.Set("facts", record.Facts{Capabilities: caps}); err != nil {
			panic(err)
		}
		subject, err := l.Subject()
		if err != nil {
			panic(err)
		}
		d := record.Decision{Verdict: *verdict, Subject: subject, Matches: []record.Match{}, Errors: []record.PolicyError{}}
		if *verdict != record.VerdictAllow {
			d.Matches = []record.Match{{ID: "test.policy", Effect: *verdict, Message: "because", Remedy: "do otherwise"}}
		}
		if err := l.Set("decision", d); err != nil {
			panic(err)
		}
		os.Stdout.Write(l.AppendTo(nil))
		return cli.OK
	})
}
