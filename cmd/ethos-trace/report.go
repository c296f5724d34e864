package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"ethos/pkg/cli"
	"ethos/pkg/nearest"
	"ethos/pkg/nospace"
	"ethos/pkg/outfile"
	"ethos/pkg/record"
	"ethos/pkg/trace/report"
	"ethos/pkg/trace/sarif"
)

type reportCmd struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Files of records, merged; default standard input."`
	Sarif    string   `placeholder:"FILE" help:"Also write a SARIF 2.1.0 log; its directory is created. - is standard output with --format sarif."`
	Baseline string   `placeholder:"FILE" help:"An earlier SARIF log: mark results as new, unchanged or absent; results that it has do not count for the exit status."`
	Store    string   `placeholder:"DIR" xor:"store" help:"Keep records here instead of .git/coding-ethos/traces of their work space; default $$ETHOS_STORE."`
	NoStore  bool     `xor:"store" help:"Store nothing."`
	Format   string   `enum:"human,ndjson,sarif,markdown,html" default:"human" help:"What to write to standard output: human, ndjson, sarif, markdown or html."`
	NoRedact bool     `help:"Do not remove secrets from what is stored and printed."`
	MaxLine  int      `default:"1048576" placeholder:"BYTES" help:"Longest line accepted."`
}

// Run writes a report of its input and returns the documented exit status.
func (c *reportCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Sarif == "-" && c.Format != "sarif" {
		return cli.Errorf(cli.Usage, "write --format sarif for the log alone, or --sarif FILE for both", "--sarif -: standard output has the report in the format %s", c.Format)
	}
	collectLess(sys)
	for _, name := range c.Files { // before any output is written
		if _, err := os.Stat(absolute(sys.Dir, name)); name != "-" && err != nil {
			return openError(name, err)
		}
	}
	p, err := c.pipe(sys)
	if err != nil {
		return err
	}
	read := c.read(ctx, sys, p)
	finished := p.finish(c, sys)
	if err := once(read, finished); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if p.came == 0 {
		sys.Warn("no records came in", "nothing ran, so nothing failed; if that is unexpected, check whether an earlier stage failed: with `set -o pipefail` its status becomes that of the pipe")
	}
	return p.status()
}

// once joins two errors, which may be the same one met twice: standard output that cannot be
// written.
func once(first, second error) error {
	if first != nil && second != nil && first.Error() == second.Error() {
		return first
	}
	return errors.Join(first, second)
}

// collectLess uses some 20 MB more to save a third of the time: a line is garbage once it is
// processed, and almost nothing lives longer.
func collectLess(sys *cli.System) {
	if sys.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (c *reportCmd) pipe(sys *cli.System) (*pipe, error) {
	p := &pipe{sys: sys, keepSecrets: c.NoRedact, running: map[string]bool{}}
	p.stores = &stores{sys: sys, keepSecrets: c.NoRedact, off: c.NoStore || len(c.Files) > 0 && c.Store == ""}
	if dir := c.Store; dir != "" {
		p.stores.fixed = absolute(sys.Dir, dir)
	} else if dir := sys.Getenv("ETHOS_STORE"); dir != "" {
		p.stores.fixed = absolute(sys.Dir, dir)
	}
	if c.Sarif != "" || c.Format == "sarif" || c.Baseline != "" {
		old, err := c.baseline(sys)
		if err != nil {
			return nil, err
		}
		p.sarif = sarif.NewWriter(cli.Version(), old)
		p.sarif.Provenance = provenance(sys)
		p.counted = old != nil
	}
	switch c.Format {
	case "human":
		p.sink = report.NewHuman(sys.Stdout, report.DetectTerminal(sys.Stdout, sys.Getenv), sys.Now)
	case "ndjson":
		p.lines = record.NewWriter(sys.Records())
	case "html":
		p.sink = report.NewHTML(sys.Stdout, cli.Version(), sys.Now)
	case "markdown":
		p.sink = report.NewMarkdown(sys.Stdout)
	}
	return p, nil
}

func (c *reportCmd) baseline(sys *cli.System) (*sarif.Baseline, error) {
	if c.Baseline == "" {
		return nil, nil
	}
	f, err := os.Open(absolute(sys.Dir, c.Baseline))
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "name a SARIF log that an earlier run wrote with --sarif", "open baseline: %w", err)
	}
	defer f.Close()
	old, err := sarif.ReadBaseline(f)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "name a SARIF log that an earlier run wrote with --sarif", "%s: %w", c.Baseline, err)
	}
	return old, nil
}

func (c *reportCmd) read(ctx context.Context, sys *cli.System, p *pipe) error {
	if len(c.Files) == 0 {
		sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide | ethos-sandbox | ethos-trace, or ethos-trace ls for what is stored")
		return p.read(ctx, sys.Stdin, c.MaxLine)
	}
	for _, name := range c.Files {
		if err := c.readFile(ctx, sys, p, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *reportCmd) readFile(ctx context.Context, sys *cli.System, p *pipe, name string) error {
	if name == "-" {
		return p.read(ctx, sys.Stdin, c.MaxLine)
	}
	f, err := cli.Open(ctx, absolute(sys.Dir, name))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return openError(name, err)
	}
	defer f.Close()
	return p.read(ctx, f, c.MaxLine)
}

func openError(name string, err error) error {
	hint := "name files of records (NDJSON)"
	if meant := nearest.Name(name, commandNames()); meant != "" && errors.Is(err, fs.ErrNotExist) {
		hint = "did you mean ethos-trace " + meant + "? A word that is not a command is taken as a file of records (NDJSON)"
	}
	return cli.Errorf(cli.BadInput, hint, "open records: %w", err)
}

// finish writes the end of the output, also if reading failed.
func (p *pipe) finish(c *reportCmd, sys *cli.System) error {
	p.unfinished()
	var errs []error
	for _, e := range p.held.Rest() {
		errs = append(errs, p.report(e))
	}
	if p.sink != nil {
		if p.counted {
			p.sink.Fresh(p.fresh)
		}
		errs = append(errs, p.sink.Close())
	}
	if p.lines != nil {
		errs = append(errs, p.lines.Flush())
	}
	errs = append(errs, p.writeSARIF(c, sys), p.stores.close())
	return errors.Join(errs...)
}

func (p *pipe) writeSARIF(c *reportCmd, sys *cli.System) error {
	if p.sarif == nil {
		return nil
	}
	defer p.sarif.Close()
	var out io.Writer = sys.Stdout
	toStdout := c.Format == "sarif"
	if c.Sarif == "" || c.Sarif == "-" {
		if !toStdout {
			return nil
		}
		_, err := p.sarif.WriteTo(out)
		return err
	}
	to := output(sys.Dir, c.Sarif)
	err := outfile.MakeParents(to)
	if err == nil {
		err = outfile.Replace(to, func(f io.Writer) error {
			if toStdout {
				f = io.MultiWriter(f, out)
			}
			_, err := p.sarif.WriteTo(f)
			return err
		})
	}
	if err != nil {
		var named *fs.PathError // it contains the name again
		if errors.As(err, &named) {
			err = named.Err
		}
		hint := cmp.Or(nospace.Hint(err, filepath.Dir(absolute(sys.Dir, c.Sarif))), "choose a writable path")
		return cli.Errorf(cli.BadInput, hint, "write %s: %w", c.Sarif, err)
	}
	return nil
}

// status returns the documented exit status; the greatest applies.
func (p *pipe) status() error {
	switch {
	case p.bad > 0:
		return cli.Exit(cli.BadInput)
	case p.negative > 0:
		return cli.Negative
	}
	return nil
}

// unfinished warns about actions with output but without a record: the previous stage died.
func (p *pipe) unfinished() {
	if n := len(p.running); n > 0 {
		p.bad += n
		p.sys.Warn(report.Count(n, "action")+" began, and there is no record of its end", "the earlier stage ended too soon; check its messages")
	}
}
