package main

import (
	"os"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// recorder stores each call in the trace store: ETHOS_STORE, else the store that a sandbox
// provides, else that of the workspace. A call outside of a work tree is not stored in the last
// one.
type recorder struct{ sys *cli.System }

// Record implements gitguard.Recorder. It does not wait for the disk, because git is about to run.
func (r recorder) Record(workspace string, line *record.Line, clean bool) error {
	dir := r.sys.Getenv("ETHOS_STORE")
	if _, err := os.Lstat(record.InsideTraces); dir == "" && err == nil {
		dir = record.InsideTraces
	}
	if dir == "" {
		if workspace == "" {
			return nil
		}
		dir = trace.DefaultDir(workspace)
	}
	store, err := trace.Open(r.sys.Getenv, dir)
	if err != nil {
		return err
	}
	if clean {
		return store.AppendRedacted(line)
	}
	return store.Append(line)
}
