package main

import (
	"os"
	"runtime/debug"

	"ethos/pkg/cli"
)

func main() {
	serveInside(os.Args)
	debug.SetGCPercent(400) // live memory is small: a start in a large workspace would collect several times
	cli.Main(program())
}
