package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/inherited"
	"ethos/pkg/nospace"
	"ethos/pkg/outfile"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/statedir"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// keep appends the decided records of an event to --records, or to the store of the workspace. If
// writing to --records fails, the action does not run. If writing to the store fails, that is
// reported; in auto mode, where nobody reads the report, the action does not run either.
func (c *decideCmd) keep(sys *cli.System, d *decide.Decider, lines []byte, v *decide.Verdict) error {
	required := d.Limit != nil && d.Limit.Records && decide.Allows(v.Decision.Verdict)
	if required && (c.NoStore || c.Records != "") {
		return fmt.Errorf("%s requires records in the store: leave --no-store and --records out of the hook", ceiling.Dir)
	}
	if c.Records != "" {
		return c.append(lines)
	}
	if c.NoStore {
		return nil
	}
	_ = statedir.NoteAsked(sys.Getenv, c.Reply, sys.Now()) // for hook status; an error is ignored
	dir, err := storeOf(sys, v.Action.Workspace)
	if err == nil && required {
		if err := exported(sys, d.Limit.Export, v.Action.Workspace); err != nil {
			return err
		}
	}
	if err == nil {
		err = store(sys, dir, lines)
	}
	if err == nil {
		if dir == trace.DefaultDir(v.Action.Workspace) {
			err := trace.Remember(sys.Getenv, v.Action.Workspace) // for ls --all-workspaces; an error is ignored
			if err != nil && required && d.Limit.Export != nil {
				return fmt.Errorf("%s requires that records are sent, and the list of work spaces that have records cannot be saved: %w", ceiling.Dir, err)
			}
		}
		return nil
	}
	err = fmt.Errorf("not stored: %w", err)
	if required && !errors.Is(err, errInside) {
		return fmt.Errorf("%w; %s requires a record, so a call that cannot be recorded does not run", err, ceiling.Dir)
	}
	if v.Actor.Mode == record.ModeAuto && decide.Allows(v.Decision.Verdict) && !errors.Is(err, errInside) {
		return fmt.Errorf("%w; nobody is asked in auto mode, so a call that cannot be recorded does not run. With --no-store in the hook no record is kept", err)
	}
	sys.Warn(err.Error(), cmp.Or(nospace.Hint(err, dir), "the decision still applies; with --no-store in the hook no record is kept and this warning goes away"))
	return nil
}

// mostStores limits the stores that are checked for each call.
const mostStores = 1000

// exported returns an error if records were not exported as soon as the administrator requires. It
// checks the workspace's store and those of all workspaces in which a hook was called, so that
// changing the directory does not restart the time limit. Records sent by `ethos-trace export
// --only logs` count as exported.
func exported(sys *cli.System, e *ceiling.Export, workspace string) error {
	if e == nil {
		return nil
	}
	if sys.Getenv("ETHOS_STORE") != "" {
		return fmt.Errorf("%s requires that records are sent, and only finds them in work spaces: remove ETHOS_STORE from the environment of the hook", ceiling.Dir)
	}
	stores, err := trace.Stores(sys.Getenv, workspace)
	if err == nil && len(stores) > mostStores {
		err = fmt.Errorf("there are %d stores, and at most %d are checked: once their records are sent, remove the stores of unused work spaces; ethos-trace ls --all-workspaces lists them", len(stores), mostStores)
	}
	var late []string
	for _, dir := range stores {
		if err != nil {
			break
		}
		var sent bool
		if sent, err = inTime(sys, e, dir); err == nil && !sent {
			late = append(late, dir)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s requires that records are sent to %s: %w", ceiling.Dir, e.To, err)
	case len(late) == 0:
		return nil
	}
	others := ""
	if len(late) > 1 {
		others = fmt.Sprintf("; %d more have such records: with --all-workspaces in place of --store they are sent, too", len(late)-1)
	}
	return fmt.Errorf("%s requires that records are sent to %s within %v, and unsent ones in %s are older, or dated in the future: ask a person to run %s, or the same with --follow%s", ceiling.Dir, e.To, e.Within, printable.Line(late[0]),
		trace.Quote([]string{"ethos-trace", "export", "--otlp", e.To, "--store", late[0]}), others)
}

// inTime reports whether a store's first unsent record is recent enough.
func inTime(sys *cli.System, e *ceiling.Export, dir string) (bool, error) {
	s, err := trace.OpenExisting(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer s.Close()
	logs, spans := e.To+"/v1/logs", e.To+"/v1/traces"
	for _, mark := range []string{trace.ExportMark(logs, spans), trace.ExportMark(logs)} {
		began, unsent, err := s.Unsent(sys.Getenv, mark)
		if err != nil {
			return false, err
		}
		if age := sys.Now().Sub(began); !unsent || !began.IsZero() && age >= 0 && age <= e.Within {
			return true, nil
		}
	}
	return false, nil
}

// errInside is the reason why an agent that runs confined as a whole records nothing: it cannot
// write the store. Its actions are in the record of its own run.
var errInside = errors.New("the hook runs inside a boundary and cannot write the store")

func storeOf(sys *cli.System, workspace string) (string, error) {
	if trust.Inside() {
		return "", errInside
	}
	if dir := sys.Getenv("ETHOS_STORE"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(sys.Dir, dir)
		}
		return dir, nil
	}
	if _, err := os.Stat(workspace); err != nil {
		return "", fmt.Errorf("the work space is not on this machine: %w", err)
	}
	return trace.DefaultDir(workspace), nil
}

// store appends redacted lines, without waiting for the disk, because an agent waits for the
// answer.
func store(sys *cli.System, dir string, lines []byte) error {
	s, err := trace.Open(sys.Getenv, dir)
	if err != nil {
		return err
	}
	defer s.Leave()
	s.Now = sys.Now
	r := record.NewReader(bytes.NewReader(lines), 0)
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.Append(l)
		}
		if err != nil {
			return err
		}
	}
}

func (c *decideCmd) append(lines []byte) error {
	to, err := c.sink()
	if err != nil {
		return fmt.Errorf("--records: %w", err)
	}
	_, err = to.Write(lines)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("--records: %w", err)
	}
	return nil
}

func (c *decideCmd) sink() (io.WriteCloser, error) {
	number, ok := strings.CutPrefix(c.Records, "fd:")
	if !ok {
		return outfile.Append(c.Records, 0o600)
	}
	fd, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q is not a descriptor", c.Records)
	}
	if f := inherited.File(int(fd), c.Records); f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("descriptor %d is not open", fd)
}
