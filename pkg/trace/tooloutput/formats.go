package tooloutput

import (
	"maps"
	"slices"

	"ethos/pkg/lazy"
	"ethos/pkg/trace"
)

// parser parses one format.
type parser func(Output) ([]trace.Finding, bool)

var formats = lazy.Value[map[string]parser]{Make: func() map[string]parser {
	return map[string]parser{
		"actionlint":    actionlint,
		"bandit":        bandit,
		"cargo":         cargo,
		"eslint":        eslint,
		"file-list":     fileList,
		"gcc":           gcc,
		"go-build":      goText,
		"go-test":       goTest,
		"go-vet":        goVet,
		"golangci-lint": golangci,
		"hadolint":      hadolint,
		"mypy":          mypy,
		"pylint":        pylint,
		"pyright":       pyright,
		"ruff":          ruff,
		"sarif":         sarifLog,
		"shellcheck":    shellcheck,
		"sqlfluff":      sqlfluff,
		"staticcheck":   staticcheck,
		"tsc":           tsc,
		"yamllint":      yamllint,
	}
}}

// Formats returns the sorted names of the formats. "errorformat:…" is supported in addition.
func Formats() []string { return slices.Sorted(maps.Keys(formats.Get())) }
