package catalog

import (
	"errors"
	"path/filepath"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
)

// ceilingText is ceiling.yaml as it is written.
type ceilingText struct {
	Version      int64              `yaml:"version"`
	Capabilities capability.Written `yaml:"capabilities"`
	Require      []string           `yaml:"require"`
	Records      wordText           `yaml:"records"`
}

// ParseCeiling reads what the administrator allows at most, of the files of [ceiling.Read]; nil for none. The error is a [*ConfigError].
func ParseCeiling(files []ceiling.File) (*ceiling.Ceiling, error) {
	if files == nil {
		return nil, nil
	}
	c := &ceiling.Ceiling{Digest: ceiling.Digest(files), Require: []string{}}
	for _, f := range files {
		if filepath.Base(filepath.Dir(f.Name)) == ceiling.Policies {
			continue
		}
		var in ceilingText
		if err := decodeYAML(f.Name, f.Text, &in); err != nil {
			return nil, err
		}
		wrong := func(at position, err error) error {
			return &ConfigError{File: f.Name, Line: at.line, Column: at.column, Message: err.Error()}
		}
		if in.Version != 1 {
			return nil, wrong(position{}, errors.New("write version: 1 into it: this ethos reads that"))
		}
		if w := in.Records; w.text != "" && w.text != "required" {
			return nil, wrong(w.position, errors.New("records: write required, or leave it out"))
		}
		if err := in.Capabilities.Bounding(shippedBase.expand); err != nil {
			return nil, wrong(position{}, err)
		}
		c.Capabilities, c.Records = in.Capabilities, in.Records.text != ""
		c.Require = append(c.Require, in.Require...)
	}
	return c, nil
}
