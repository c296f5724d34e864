package main

import (
	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
)

// ceilingOf returns the upper limit for all actions on this machine, or nil if
// there is none.
func ceilingOf() (*capability.Written, error) {
	files, err := ceiling.Read()
	if files == nil && err == nil {
		return nil, nil
	}
	var c *ceiling.Ceiling
	if err == nil {
		c, err = catalog.ParseCeiling(files)
	}
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "ask the administrator to fix it; ethos-decide ceiling shows what is read", "%w", err)
	}
	return &c.Capabilities, nil
}
