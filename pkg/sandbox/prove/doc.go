// Package prove finds the smallest set of grants with which a failed command
// passes: [Smallest] runs the command again, in copy-on-write views that are
// thrown away, and takes grants away until none can go (delta debugging, Zeller and
// Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2),
// 2002).
//
// # Contract
//
// A run has what the first one had, and the proposals that are tried; it has less
// otherwise. It has no network but a loopback interface of its own, no socket and
// no published port of the host, no descriptor and no terminal of the caller's, and
// all that it writes is thrown away. That is read from the plan of each run before
// it starts: where it does not hold, or no view can be had, nothing runs and the
// [Result] says why. What the command prints is shown to nobody.
//
// Only paths that package explain proposes are tried, so never credentials or what
// decides what runs outside. A grant of a socket or a name reaches what is outside,
// and is never tried.
//
// # Limits
//
// A set that is proved is enough, and no grant of it can be left out alone, as far as
// the command does the same each time. A command that needs the network, a socket, or
// what an earlier run left in the view cannot be proved.
package prove
