package main

import (
	"context"
	"os"

	"ethos/pkg/cli"
	_ "ethos/pkg/entry/plain" // an entry point of its own
)

func main() {
	cli.MainRaw("ethos-git", func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		return run(ctx, sys, os.Args[0], args)
	})
}
