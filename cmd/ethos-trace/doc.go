// Ethos-trace is the last stage of the pipe: it shows what happened to people and machines, and keeps it.
//
//	ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace --sarif build/vet.sarif
//
// It reads action, output and error lines, takes secrets out of them, appends them to the store of the work space, and writes
// one report to standard output. Its exit status says whether everything ran and succeeded.
package main
