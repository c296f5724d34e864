package tooloutput

import (
	"maps"
	"slices"
	"sync"

	"ethos/pkg/trace"
)

// parser reads one format.
type parser func(Output) ([]trace.Finding, bool)

var formats = sync.OnceValue(func() map[string]parser {
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
})

// Formats lists the names of the formats, sorted; "errorformat:…" is understood beside them.
func Formats() []string { return slices.Sorted(maps.Keys(formats())) }
