// Package origin remembers which runs of agents could reach the network, and
// when, so that it can be told of a file whether it was written in one of them.
//
//	m := origin.New(os.Getenv)
//	run, err := m.Begin(origin.Run{Action: id, Agent: "claude", Network: "proxy", Roots: []string{workspace}})
//	…                                          // the command runs, and all that it started ends
//	err = run.End()
//	runs, err := m.Runs()                      // nil where nothing was remembered
//	from := runs.Of(file, info, read)          // nil: in none of them, as far as it is known
//
// No list of written files is kept. The kernel puts the time of each change of a
// file, its name, its mode or its content into st_ctim, which no command can set
// (inode(7)): a file below a directory that a run could write to, whose time of
// change lies between the begin and the end of the run, was changed meanwhile,
// or by somebody else at the same time. One whose time of change lies outside of
// every run was touched later by who is no such run. rename(2), link(2) and
// chmod(2) leave the time of its content (st_mtim) as it was: that counts, too.
//
// The memory is one file in the state folder (package statedir), which no
// command sees.
package origin
