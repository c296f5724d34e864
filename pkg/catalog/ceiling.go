package catalog

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
	"ethos/pkg/quantity"
)

// ceilingText is ceiling.yaml as written.
type ceilingText struct {
	Version      int64              `yaml:"version"`
	Capabilities capability.Written `yaml:"capabilities"`
	Require      []string           `yaml:"require"`
	Records      wordText           `yaml:"records"`
	Export       *exportText        `yaml:"export"`
}

// exportText says where records must be sent, and how soon.
type exportText struct {
	To     wordText `yaml:"to"`
	Within wordText `yaml:"within"`
	position
}

func (e *exportText) read() (*ceiling.Export, error) {
	if e == nil {
		return nil, nil
	}
	to, err := url.Parse(e.To.text)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" || to.User != nil || to.RawQuery != "" || to.Fragment != "" {
		return nil, errors.New("export: to: write the collector's base URL, such as https://collector.example.com:4318, without a password")
	}
	within, err := quantity.ParseDuration(e.Within.text)
	if err != nil {
		return nil, fmt.Errorf("export: within: %w", err)
	}
	return &ceiling.Export{To: strings.TrimSuffix(e.To.text, "/"), Within: within}, nil
}

// ParseCeiling parses the upper bound that the administrator sets, from the files that
// [ceiling.Read] returns. The result is nil if there are none. The error is a [*ConfigError].
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
			return nil, wrong(w.position, errors.New("records: write required, or omit it"))
		}
		if err := in.Capabilities.Bounding(shippedBase.expand); err != nil {
			return nil, wrong(position{}, err)
		}
		export, err := in.Export.read()
		if err != nil {
			return nil, wrong(in.Export.position, err)
		}
		c.Capabilities, c.Records, c.Export = in.Capabilities, in.Records.text != "" || export != nil, export
		c.Require = append(c.Require, in.Require...)
	}
	return c, nil
}
