package main

import (
	"os"

	"ethos/pkg/cli"
)

func main() { cli.Main(program(os.Args[1:])) }
