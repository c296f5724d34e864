package main

import (
	"os"
	"runtime/debug"

	_ "ethos/cmd/ethos-facts/early" // has a session do it
	"ethos/pkg/cli"
)

func main() {
	debug.SetGCPercent(400) // live memory is small: collecting less often saves a third of the time, for a few MiB
	cli.Main(program(os.Args[1:]))
}
