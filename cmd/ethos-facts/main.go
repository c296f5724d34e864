package main

import (
	"os"
	"runtime/debug"

	"ethos/cmd/ethos-facts/early" // has a session do it
	"ethos/pkg/cli"
)

func main() {
	debug.SetGCPercent(400) // live memory is small: collecting less often saves a third of the time, for a few MiB
	p := program(os.Args[1:])
	if early.Plain(os.Args) { // a hook's: whoever decides refuses what has no whole record
		p.Signals = cli.NotCaught
	}
	cli.Main(p)
}
