package plan

import (
	"slices"

	"ethos/pkg/record"
)

// NoEvidence returns the evidence of an action for which no plan was made.
func NoEvidence() record.Sandbox { return Requested(&Plan{Tags: []string{}}) }

// Declared returns the paths and sockets that were declared by name, without links.
func (p *Plan) Declared() (paths []string) {
	for _, e := range p.Paths {
		if e.Why == declared {
			paths = append(paths, e.Path)
		}
	}
	return slices.Concat(paths, p.Sockets)
}

// Requested returns the evidence of a plan that was not carried out: what was requested,
// and nothing in force.
func Requested(p *Plan) record.Sandbox {
	e := record.Sandbox{
		Backend: p.BackendName(), Profile: p.Profile, Tags: p.Tags, Controls: []record.Control{}, Denials: slices.Concat([]record.Denial{}, p.Recovered),
		ReadPaths: []string{}, WritePaths: []string{}, DenyReadPaths: []string{}, DenyWritePaths: []string{},
		DenyExecPaths: p.DenyExec, Masks: p.Masks, NestedUserns: p.NestedUserns, Ceiling: p.Ceiling,
		CgroupRequested: p.WantsCgroup(), SeccompProfile: p.SeccompText(), Usage: record.Usage{MeasuredBy: "rusage"},
	}
	for i, entry := range p.Paths {
		switch above := Covering(p.Paths[:i], entry.Path).Access; {
		case entry.Access == ReadWrite:
			e.WritePaths = append(e.WritePaths, entry.Path)
		case entry.Access == Hidden:
			e.DenyReadPaths = append(e.DenyReadPaths, entry.Path)
		case entry.Access == ReadOnly && above == ReadWrite:
			e.DenyWritePaths = append(e.DenyWritePaths, entry.Path)
		case entry.Access == ReadOnly:
			e.ReadPaths = append(e.ReadPaths, entry.Path)
		}
	}
	for _, m := range p.Mounts {
		switch m.Why {
		case whyAgentState:
			e.WritePaths = append(e.WritePaths, m.Source)
		case whyAgentSettings:
			e.ReadPaths = append(e.ReadPaths, m.Source)
		}
	}
	return e
}
