// Ethos-trace is the last stage of the pipe. It shows what happened to people and machines, and
// stores it.
//
//	ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace --sarif build/vet.sarif
//
// It reads action, output and error lines, removes secrets from them, appends them to the store of
// the workspace, and writes one report to standard output. Its exit status says whether everything
// ran and succeeded.
package main
