package main

import "ethos/pkg/cli"

func main() { cli.Main(program()) }
