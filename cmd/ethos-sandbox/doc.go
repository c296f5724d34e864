// Command ethos-sandbox runs commands confined: as a filter with records in and out, or one command
// now with run and shell.
//
// Nothing runs unconfined because something failed. If a requested control is not in force, the run
// ends before the command's first instruction, with status 125, or with a denied result in the
// pipe.
package main
