package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
	"ethos/pkg/trace/otlp"
)

// export sends the store that the order names.
func export(ctx context.Context, sys *cli.System, args []string) cli.Status {
	var order trace.ExportOrder
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &order) != nil {
		sys.Fail("ethos-otlp is started by ethos-trace export", "ethos-trace export --help")
		return cli.Usage
	}
	config, err := otlp.Configure(sys.Getenv, order.Endpoint, signals(order.Only)...)
	var fault *otlp.ConfigError
	if errors.As(err, &fault) {
		sys.Fail(fault.Text, fault.Hint)
		return cli.Usage
	}
	if place := config.Plain(); place != "" {
		sys.Warn("records go to "+place+" unencrypted", "use https, or a collector on this machine")
	}
	e := &otlp.Exporter{Config: config, Version: cli.Version(), Follow: order.Follow, RetryFor: time.Duration(order.RetryForSeconds) * time.Second, Warn: sys.Warn}
	open := func(dir string) (*trace.Store, error) { return trace.Open(sys.Getenv, dir) }
	if order.Workspace != "" {
		return ended(ctx, sys, e, e.ExportAll(ctx, func() ([]string, error) { return stores(sys, order) }, open))
	}
	s, err := open(order.Store)
	if err != nil {
		sys.Fail(err.Error(), "name another store with --store")
		return cli.BadInput
	}
	defer s.Close()
	return ended(ctx, sys, e, e.Export(ctx, s))
}

func stores(sys *cli.System, order trace.ExportOrder) ([]string, error) {
	list, err := trace.Stores(sys.Getenv, order.Workspace)
	if _, missing := os.Stat(order.Store); missing == nil && !slices.Contains(list, order.Store) {
		list = append(list, order.Store)
	}
	return list, err
}

func signals(only string) []otlp.Signal {
	if only == "" {
		return nil
	}
	return []otlp.Signal{otlp.Signal(only)}
}

func ended(ctx context.Context, sys *cli.System, e *otlp.Exporter, err error) cli.Status {
	summary := fmt.Sprintf("sent %d to %s", e.Sent, strings.Join(e.Config.Places(), " and "))
	if e.Refused > 0 {
		summary += fmt.Sprintf("; it refused %d", e.Refused)
	}
	sys.Printf("%s\n", summary)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return cli.Interrupted
	case errors.Is(err, trace.ErrHeld):
		sys.Fail("this store is already being exported there: "+err.Error(), "wait until the other export ends, or end it")
		return cli.BadInput
	case errors.Is(err, otlp.ErrStores):
		sys.Fail(err.Error(), "the others were sent; ethos-trace export --store DIR sends one")
		return cli.BadInput
	case err != nil:
		sys.Fail(err.Error(), otlp.Hint(err))
		return cli.NegativeStatus
	case e.Refused > 0:
		return cli.NegativeStatus
	}
	return cli.OK
}
