package main

import "ethos/pkg/cli"

func main() { cli.MainRaw("ethos-trace", start) }
