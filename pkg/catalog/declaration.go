package catalog

import (
	"cmp"
	"fmt"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog/shipped"
)

// declaration is a tool as written in YAML.
type declaration struct {
	ID           string             `yaml:"id"`
	Category     string             `yaml:"category"`
	Format       string             `yaml:"format"`
	Managed      *bool              `yaml:"managed"`
	Match        []formText         `yaml:"match"`
	ConfigFiles  []string           `yaml:"config_files"`
	Capabilities capability.Written `yaml:"capabilities"`

	line, column int
}

func (d *declaration) at(line, column int) { d.line, d.column = line, column }

// base is what declarations refer to by name.
type base struct {
	profile func(name string) (capability.Set, bool)
	set     func(name string) ([]string, bool)
}

// shippedBase has the profiles and sets that are compiled in.
var shippedBase = base{capability.Profile, shipped.Set}

// expand replaces "@name" by the values of the set.
func (b base) expand(values []string) ([]string, error) {
	out := []string{}
	for _, v := range values {
		name, isSet := strings.CutPrefix(v, "@")
		if !isSet {
			out = append(out, v)
			continue
		}
		set, ok := b.set(name)
		if !ok {
			return nil, fmt.Errorf("no set %q", v)
		}
		out = append(out, set...)
	}
	return out, nil
}

// tool compiles a declaration against its profile, which it may only narrow.
func (d *declaration) tool(b base) (Tool, error) {
	t := Tool{ID: d.ID, Category: d.Category, Managed: d.Managed == nil || *d.Managed, ConfigFiles: d.ConfigFiles}
	if d.ID == "" || len(d.Match) == 0 {
		return t, fmt.Errorf("a tool needs an id and at least one form in match")
	}
	for _, text := range d.Match {
		form, err := text.parse(d.Format)
		if err != nil {
			return t, err
		}
		t.Forms = append(t.Forms, form)
	}
	name := cmp.Or(d.Capabilities.Profile(), capability.DefaultToolProfile)
	parent, ok := b.profile(name)
	if !ok {
		return t, fmt.Errorf("tool %s: no profile %q; %s", d.ID, name, known(name, capability.ProfileNames()))
	}
	child, err := d.Capabilities.Over(capability.Unasked(parent), b.expand)
	if err != nil {
		return t, fmt.Errorf("tool %s: %w", d.ID, err)
	}
	child.SandboxProfile = name
	if over := capability.Widens(capability.Anywhere, parent, child); len(over) > 0 {
		return t, fmt.Errorf("tool %s goes past its profile %s: %s", d.ID, name, over[0])
	}
	t.Capabilities = child
	return t, nil
}
