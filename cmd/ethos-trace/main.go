package main

import (
	"ethos/pkg/cli"
	_ "ethos/pkg/entry/plain" // an entry point of its own
)

func main() { cli.Main(program()) }
