// Ethos-facts describes actions: a command, a script, an agent's event or a recorded line goes in, a record with facts comes out, one JSON object a
// line. It runs nothing and judges nothing.
//
// What goes in wrong comes out as an error line and status 3, so that a pipe behind it refuses what could not be read. The analysis is pkg/facts'; this
// program reads the inputs and writes the lines.
package main
