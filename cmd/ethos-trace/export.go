package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
)

type exportCmd struct {
	storeFlag
	OTLP     string `name:"otlp" placeholder:"URL" help:"The collector's base URL for OTLP/HTTP, such as http://localhost:4318; default $$OTEL_EXPORTER_OTLP_ENDPOINT."`
	All      bool   `name:"all-workspaces" help:"Send the stores of all work spaces in which an agent's hook has recorded, and of this one."`
	Follow   bool   `help:"Keep sending new records until SIGTERM or Ctrl-C."`
	Only     string `enum:",logs,traces" default:"" placeholder:"SIGNAL" help:"Send only these: logs or traces."`
	RetryFor string `placeholder:"DUR" help:"How long to retry while the collector does not answer; 0: for ever. Default: 1m, with --follow for ever."`
}

// Help implements kong.HelpProvider.
func (*exportCmd) Help() string {
	return `Sends the store's records as OpenTelemetry logs and spans, from where the last export to this URL ended; each at least once. Secrets are removed again.
The standard variables OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _COMPRESSION and _CERTIFICATE set headers, time limit, compression and certificates.
Status 1: the collector refused something, or could not be reached. The sending program is ethos-otlp, installed beside this one.`
}

// Run implements the command: it replaces this process with the exporter.
func (c *exportCmd) Run(_ context.Context, sys *cli.System) error {
	order := trace.ExportOrder{Store: c.dir(sys), Endpoint: c.OTLP, Follow: c.Follow, Only: c.Only}
	if !c.Follow {
		order.RetryForSeconds = 60
	}
	if c.RetryFor != "" {
		d, err := duration(c.RetryFor)
		if err != nil || d != 0 && d.Seconds() < 1 {
			return cli.Errorf(cli.Usage, "write 30s, 10m or 0", "not a duration of at least one second: %q", c.RetryFor)
		}
		order.RetryForSeconds = int64(d.Seconds())
	}
	if c.All {
		if c.Store != "" {
			return cli.Errorf(cli.Usage, "omit one of them", "--store and --all-workspaces exclude each other")
		}
		if order.Workspace = trace.WorkTree(sys.Dir); sys.Getenv("ETHOS_STORE") == "" {
			order.Store = ""
		}
		return cli.Become(sys, "ethos-otlp", order)
	}
	s, err := c.open(sys)
	if c.nothingYet(sys, err) && !c.Follow {
		return nil
	}
	if err == nil {
		s.Close()
	} else if !c.Follow {
		return err
	}
	return cli.Become(sys, "ethos-otlp", order)
}
