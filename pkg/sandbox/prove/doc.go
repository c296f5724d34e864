// Package prove finds the smallest set of grants with which a failed command
// passes. [Smallest] reruns the command in copy-on-write views that are
// discarded, and removes grants until none can be removed (delta debugging,
// Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
// IEEE TSE 28(2), 2002).
//
// # Contract
//
// A run has what the first run had plus the proposals under test, and otherwise
// less. It has no network except a loopback interface of its own, no socket or
// published port of the host, and no descriptor or terminal of the caller's.
// Everything that it writes is discarded. The plan of each run is checked for
// this before the run starts. If it does not hold, or no view is available,
// nothing runs and the [Result] says why. The command's output is not shown.
//
// Only paths that package explain proposes are tried: never credentials, or
// files that decide what runs outside. A grant of a socket or a name would
// reach the outside, and is never tried.
//
// # Limits
//
// A proved set suffices, and no single grant can be left out, provided that the
// command behaves the same each time. A command that needs the network, a
// socket, or what an earlier run left in the view cannot be proved.
package prove
