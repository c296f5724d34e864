package main

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/quantity"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

// cacheCmd lists and removes what commands have added to package caches.
type cacheCmd struct {
	Ls    cacheLsCmd    `cmd:"" help:"List what commands have added to the package caches of the work space."`
	Prune cachePruneCmd `cmd:"" help:"Remove what commands have added, unless a run is using it; the caches outside are not changed."`
}

type cacheLsCmd struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

// Run lists the entries, least recently used first.
func (c *cacheLsCmd) Run(_ context.Context, sys *cli.System) error {
	list, err := sandbox.Caches(cacheSpace(sys))
	if err != nil {
		return cacheError(err)
	}
	total := int64(0)
	for _, use := range list {
		total += use.Bytes
		if err := printCache(sys, use, c.JSON); err != nil {
			return err
		}
	}
	if c.JSON {
		return nil
	}
	return sys.Printf("%s in %s of %s\n", megabytes(total), counted(int(files(list)), "file"), counted(len(list), "cache"))
}

type cachePruneCmd struct {
	OlderThan string `placeholder:"AGE" help:"Remove only what has not been used for this long: 30d, 12h."`
	MaxSize   string `placeholder:"SIZE" help:"Remove the least recently used until at most this much is left: 2G, 500M."`
	DryRun    bool   `help:"Show what would be removed; remove nothing."`
}

func (c *cachePruneCmd) Run(_ context.Context, sys *cli.System) error {
	before, keep := time.Time{}, int64(math.MaxInt64)
	if c.OlderThan == "" && c.MaxSize == "" {
		keep = 0
	}
	if c.OlderThan != "" {
		age, err := cacheAge(c.OlderThan)
		if err != nil {
			return cli.Errorf(cli.Usage, "write 30d, 12h or 90m", "not a duration: %q", c.OlderThan)
		}
		before = sys.Now().Add(-age)
	}
	if c.MaxSize != "" {
		size, err := quantity.ParseSize(c.MaxSize)
		if err != nil {
			return cli.Errorf(cli.Usage, "write 2G or 500M", "not a size: %q", c.MaxSize)
		}
		keep = size
	}
	list, err := sandbox.PruneCaches(cacheSpace(sys), before, keep, c.DryRun)
	if err != nil {
		return cacheError(err)
	}
	total := int64(0)
	for _, use := range list {
		total += use.Bytes
		if err := printCache(sys, use, false); err != nil {
			return err
		}
	}
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	return sys.Printf("%s %s in %s of %s\n", verb, megabytes(total), counted(int(files(list)), "file"), counted(len(list), "cache"))
}

func cacheSpace(sys *cli.System) string { return boundary.Workspace(sandbox.HostFiles{}, sys.Dir) }

func cacheError(err error) error {
	return cli.Errorf(cli.BadInput, "check the cache directory below .coding-ethos or .git/coding-ethos in the work space", "caches: %w", err)
}

func printCache(sys *cli.System, use sandbox.CacheUse, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(use)
		if err != nil {
			return err
		}
		return sys.Printf("%s\n", line)
	}
	state := "-"
	if use.InUse {
		state = "in use"
	}
	return sys.Printf("%12s  %s  %-6s  %s\n", megabytes(use.Bytes), use.Used.Format("2006-01-02 15:04"), state, use.Path)
}

func files(list []sandbox.CacheUse) (n int64) {
	for _, use := range list {
		n += use.Files
	}
	return n
}

func megabytes(n int64) string {
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

func cacheAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return quantity.ParseDuration(text)
}
