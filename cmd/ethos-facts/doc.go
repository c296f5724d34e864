// Ethos-facts describes actions. Its input is a command, a script, an agent's event or a recorded
// line; its output is a record with facts, one JSON object per line. It runs nothing and judges
// nothing.
//
// Invalid input becomes an error line and status 3, so that the next stage of the pipe refuses what
// could not be read. The analysis is in pkg/facts; this program reads the inputs and writes the
// lines.
package main
