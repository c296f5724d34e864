package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/trace"
)

// recorded adds the result of a command to the record that the agent's hook has
// stored: the record with this id, of this command, without a result. If there
// is none, nothing is added.
type recorded struct {
	sys    *cli.System
	id     string
	action record.Action
	next   io.WriteCloser // --evidence, or nil
	line   *record.Line   // set once it was looked up
}

// recordOf returns what --record asks for, or nil without it.
func (f *sessionFlags) recordOf(sys *cli.System, action record.Action) *recorded {
	if f.Record == "" {
		return nil
	}
	action.Cwd, action.Workspace = sys.Dir, sys.Dir
	return &recorded{sys: sys, id: f.Record, action: action}
}

func (r *recorded) Write(line []byte) (int, error) {
	if err := r.keep(line); err != nil {
		r.sys.Warn(fmt.Sprintf("the result was not stored: %v", err), "the command ran; ethos-trace ls shows it as allowed, and as no-result once its time limit is over")
	}
	if r.next == nil {
		return len(line), nil
	}
	return r.next.Write(line)
}

func (r *recorded) Close() error {
	if r.next == nil {
		return nil
	}
	return r.next.Close()
}

func (r *recorded) keep(line []byte) error {
	var result record.Result
	if err := json.Unmarshal(line, &result); err != nil {
		return err
	}
	dir, err := r.store()
	if err != nil {
		return err
	}
	there, err := trace.OpenExisting(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	there.Leave()
	store, err := trace.Open(r.sys.Getenv, dir)
	if err != nil {
		return err
	}
	defer store.Leave()
	store.Now = r.sys.Now
	ours, err := r.asStored(store)
	if err != nil {
		return err
	}
	_, err = store.Amend(r.id, func(l *record.Line) (bool, error) {
		var a record.Action
		if err := l.Decode("action", &a); err != nil || l.Has("result") || !l.Has("confine") {
			return false, err
		}
		if a.Script != ours.Script || !slices.Equal(a.Argv, ours.Argv) {
			return false, nil
		}
		return true, l.Set("result", result)
	})
	return err
}

// store returns the store in which the hook keeps the records of this
// directory.
func (r *recorded) store() (string, error) {
	if dir := r.sys.Getenv("ETHOS_STORE"); dir != "" {
		return filepath.Abs(dir)
	}
	return trace.DefaultDir(boundary.Workspace(sandbox.HostFiles{}, r.sys.Dir)), nil
}

// asStored returns the action as stored, without its secrets.
func (r *recorded) asStored(store *trace.Store) (record.Action, error) {
	redactor, err := store.Redactor()
	if err != nil {
		return record.Action{}, err
	}
	var a record.Action
	line := record.NewLine(r.id, r.sys.Now(), r.action, record.Actor{Mode: record.ModeSafe})
	text := line.AppendTo(nil)
	text, _ = redactor.JSON(text[:len(text)-1])
	if line, err = record.ParseLine(text); err == nil {
		err = line.Decode("action", &a)
	}
	return a, err
}
