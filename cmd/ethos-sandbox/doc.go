// Command ethos-sandbox runs commands confined: records in and out as a filter, or one command now with run and shell.
//
// Nothing runs unconfined because something failed: a control that was asked for and is not in force ends the run before the command's first
// instruction, with status 125, or as a denied result in the pipe.
package main
