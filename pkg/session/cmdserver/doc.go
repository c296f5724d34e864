// Package cmdserver does in a process that runs what a program would do that is
// started for each call, for callers that pass their arguments, environment,
// directory and standard streams. Mercurial calls this a command server.
//
// A caller ([dial.Buffer.Do]) gets no answer other than that of a process of
// its own: it has the same rights and the same view of the machine as the server
// ([server.admit]), and each call begins as the program does, so that nothing is
// remembered from one call to the next but the program itself. See
// docs/decisions/0062-a-command-server.md.
package cmdserver
