// Package setup puts ethos's hook into the settings of coding agents, takes it
// out, and tells whether it is there.
//
//	place, err := setup.Where(agent, false, dirs)        // the files of an agent
//	change, err := place.Install(setup.Options{…})       // reads; nothing is written yet
//	fmt.Print(change.Diff()); err = change.Write()
//
// [Recipe] is the same text as files to copy: examples/ holds what it returns.
//
// # Contract
//
// A change is an edit of the text: comments, unknown keys, order and layout of
// what is there stay. Before it is offered the old and the new text are parsed by
// the format's own parser and compared: they differ by what was meant and by
// nothing else, or the change is an error. A file that cannot be parsed, has a
// name twice in one object, or is anything but a regular file is refused.
//
// Written is a new file beside the old one, with its mode, which takes its
// place; the old text stays beside it as NAME.before-ethos. A link is followed to
// a file in the same home or project and never out of it. Two installations at
// once take turns, and a file that has changed since it was read is an error.
//
// # Limits
//
// Whether an agent obeys the hook is its own affair: [Agent.Caveats] says what is
// known. Settings of a third place, such as those of an administrator, are not
// looked at.
package setup
