package main

import (
	"runtime/debug"

	"ethos/pkg/cli"
)

func main() {
	debug.SetGCPercent(400) // what is live is small: a start in a large work space would collect several times
	cli.Main(program())
}
