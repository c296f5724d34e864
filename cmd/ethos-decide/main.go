//go:build !nocel

package main

import (
	"os"
	"runtime/debug"

	"ethos/pkg/cli"
	_ "ethos/pkg/entry/plain" // an entry point of its own
)

func main() {
	debug.SetGCPercent(400) // live memory is small: collecting less often saves a third of the time, for a few MiB
	from := received()
	cli.Main(from.program(os.Args[1:]))
}
