// Package origin records which runs of agents could reach the network, and when. From this it can
// tell whether a file was written in such a run. Begin with [Memory] and [Runs.Of].
//
//	m := origin.New(os.Getenv)
//	run, err := m.Begin(origin.Run{Action: id, Agent: "claude", Network: "proxy", Roots: []string{workspace}})
//	…                                          // the command runs, and all that it started ends
//	err = run.End()
//	runs, err := m.Runs()                      // nil if no run is recorded
//	from := runs.Of(file, info, read)          // nil: no known run has written the file
//
// The package keeps no list of written files. The kernel stores the time of each change of a file,
// its name, its mode or its content in st_ctim, which no command can set (inode(7)). If a run could
// write to the directory of a file, and the time of change lies between the begin and the end of
// the run, then the run changed the file, or somebody else did at the same time. If the time of
// change lies outside of every run, something other than a recorded run changed the file last.
// rename(2), link(2) and chmod(2) do not change the time of the content (st_mtim), so st_mtim is
// compared too.
//
// The memory is one file in the state folder (package statedir), which no confined command sees.
package origin
