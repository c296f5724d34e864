// Package setup installs ethos's hook in the settings of coding agents, removes it, and reports
// whether it is installed. Begin with [Where].
//
//	place, err := setup.Where(agent, false, dirs)        // the files of an agent
//	change, err := place.Install(setup.Options{…})       // reads; nothing is written yet
//	fmt.Print(change.Diff()); err = change.Write()
//
// # Contract
//
// A change edits the text: existing comments, unknown keys, order and layout stay. Before a change
// is offered, the old and the new text are parsed by the parser of the format and compared. If they
// differ in anything but the intended change, that is an error. A file is refused if it cannot be
// parsed, if an object in it has a name twice, or if it is not a regular file.
//
// Write creates a new file beside the old one, with the same mode, and renames it into place. The
// old text is kept as NAME.before-ethos. A symbolic link is followed to a file in the same home or
// project, and never out of it. Concurrent installations wait for each other. If a file has changed
// since it was read, that is an error.
//
// # Limits
//
// Whether an agent obeys the hook depends on the agent: [Agent.Caveats] says what is known.
// Settings in other places, such as those of an administrator, are not examined.
package setup
