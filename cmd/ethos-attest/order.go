package main

import (
	"context"
	"encoding/json"
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/proof"
)

func start(ctx context.Context, sys *cli.System, args []string) cli.Status {
	err := obey(ctx, sys, args)
	var fault *cli.Error
	switch {
	case err == nil:
		return cli.OK
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return cli.Interrupted
	case errors.As(err, &fault):
		sys.Fail(err.Error(), fault.Hint)
		return fault.Status
	}
	sys.Fail(err.Error(), "")
	return cli.BadInput
}

func obey(ctx context.Context, sys *cli.System, args []string) error {
	var order proof.Order
	if len(args) == 1 && json.Unmarshal([]byte(args[0]), &order) == nil {
		switch {
		case order.Attest != nil:
			return sign(ctx, sys, *order.Attest)
		case order.Verify != nil:
			return verify(ctx, sys, *order.Verify)
		case order.Seal != nil:
			return seal(ctx, sys, *order.Seal)
		case order.Unseal != nil:
			return unseal(ctx, sys, *order.Unseal)
		}
	}
	return cli.Errorf(cli.Usage, "ethos-trace attest --help; ethos-trace verify --help", "ethos-attest is started by ethos-trace")
}
