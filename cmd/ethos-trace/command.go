package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

type commands struct {
	Report reportCmd `cmd:"" default:"withargs" help:"Read records from standard input, or from files, and report them. The default."`
	Ls     lsCmd     `cmd:"" help:"List what the store holds."`
	Show   showCmd   `cmd:"" help:"Show one stored record."`
	Verify verifyCmd `cmd:"" help:"Check that nothing in the store was changed, removed, reordered or cut off; with --commit, check a bundle of attest."`
	Prove  proveCmd  `cmd:"" help:"Check whether commands passed on a given content of the work space: status 0 only if the store has a run that proves each."`
	Attest attestCmd `cmd:"" help:"Sign what prove finds on a commit, with the records, so that another machine can verify it."`
	Stats  statsCmd  `cmd:"" help:"Count verdicts, policies and tools, with percentiles of times."`
	Export exportCmd `cmd:"" help:"Send the store to an OpenTelemetry collector."`
	Prune  pruneCmd  `cmd:"" help:"Remove old days from the store; the rest stays verifiable."`
}

// commandNames returns the words that are commands and not files.
func commandNames() (names []string) {
	for field := range reflect.TypeFor[commands]().Fields() {
		names = append(names, strings.ToLower(field.Name))
	}
	return names
}

func program() cli.Program {
	return cli.Program{
		Name:    "ethos-trace",
		Summary: "show and keep what was decided and done",
		Description: "Reads the records that ethos-sandbox writes, removes secrets, appends the records to the store of their work space (" +
			".git/coding-ethos/traces) and reports them.\n\n" +
			"Exit status: 0 when all ran and succeeded, 1 when something was denied, asked, failed or found, 3 when a line was not valid or an action " +
			"has output but no end. Where both apply, 3 wins. With --baseline, findings that the baseline has do not count.\n\n" +
			"Records from standard input are stored. Records from files are shards that were stored where they were made; they are stored " +
			"again only with --store.\n\n" +
			"Each report lists the destinations of the commands' connections, refused ones first. The remedy for a refused destination is the option of " +
			"ethos-sandbox run that allows it.",
		Kind:     cli.Filter,
		Commands: new(commands),
		Vars: func() map[string]string {
			return map[string]string{"agents": cli.Or(agent.Names()), "turns": cli.Or(agent.Turns())}
		},
		Values: func() map[string][]string {
			return map[string][]string{"--agent": agent.Names(), "--control": record.Controls()}
		},
		Examples: []cli.Example{
			{Command: "ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace --sarif build/vet.sarif", Text: "Run a checker and keep its findings."},
			{Command: "ethos-trace --no-store --format markdown shard*.ndjson >> \"$GITHUB_STEP_SUMMARY\"", Text: "Join the records of several jobs into a summary."},
			{Command: "ethos-trace ls --since 24h --outcome denied", Text: "What was refused since yesterday."},
			{Command: "ethos-trace verify", Text: "Check the store's chain."},
			{Command: "ethos-trace prove --need 'go test ./...' --tree HEAD", Text: "Have the tests passed on this commit?"},
		},
	}
}

// storeFlag names the store that a command reads.
type storeFlag struct {
	Store string `placeholder:"DIR" help:"The store; default $$ETHOS_STORE, else .git/coding-ethos/traces of the enclosing work tree."`
}

// dir returns the store's absolute directory.
func (f storeFlag) dir(sys *cli.System) string {
	dir := f.Store
	if dir == "" {
		dir = sys.Getenv("ETHOS_STORE")
	}
	if dir == "" {
		return trace.DefaultDir(trace.WorkTree(sys.Dir))
	}
	return absolute(sys.Dir, dir)
}

// nothingYet reports whether a store could not be opened because nothing has
// been recorded in this workspace yet, and prints that: for a command that
// lists, it is not an error. A store that was named, or is to be verified, must
// exist.
func (f storeFlag) nothingYet(sys *cli.System, err error) bool {
	if !errors.Is(err, fs.ErrNotExist) || f.Store != "" || sys.Getenv("ETHOS_STORE") != "" {
		return false
	}
	sys.Warn("nothing is recorded yet: "+f.dir(sys)+" does not exist", "pipe records through ethos-trace, or name a store with --store")
	return true
}

func (f storeFlag) open(sys *cli.System) (*trace.Store, error) {
	s, err := trace.OpenExisting(f.dir(sys))
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "pipe records through ethos-trace first, or name the store with --store", "%w", err)
	}
	return s, nil
}

// output returns the path of a file that is written. In the current directory it stays relative, so
// that pkg/outfile takes no link on the way to that directory for one in the work space.
func output(dir, path string) string {
	here, err := os.Stat(".")
	there, fault := os.Stat(dir)
	if err == nil && fault == nil && os.SameFile(here, there) {
		return path
	}
	return absolute(dir, path)
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
