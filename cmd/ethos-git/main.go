package main

import (
	"context"
	"os"

	"ethos/pkg/cli"
)

func main() {
	cli.MainRaw("ethos-git", func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		return run(ctx, sys, os.Args[0], args)
	})
}
