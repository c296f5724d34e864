package probe

import (
	"strings"

	"ethos/pkg/ceiling"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// The outcomes of a [Check].
const (
	Yes     = "yes"
	No      = "no"
	Unknown = "unknown" // could not be tested
)

// Check is the result of one test.
type Check struct {
	Name     string `json:"name"`
	Outcome  string `json:"outcome"` // yes: as the boundary promises
	Detail   string `json:"detail"`
	Hint     string `json:"hint,omitempty"`
	Required bool   `json:"required"` // the default profile depends on it
}

// Report is the result of all checks.
type Report struct {
	OK       bool             `json:"ok"` // the default profile can be enforced
	Kernel   string           `json:"kernel"`
	Arch     string           `json:"arch"`
	UID      int              `json:"uid"`
	Profile  string           `json:"profile"`
	Ceiling  string           `json:"ceiling,omitempty"` // digest of the administrator's upper limit
	Bounds   []string         `json:"bounds,omitempty"`  // that limit, for people
	Checks   []Check          `json:"checks"`
	Controls []record.Control `json:"controls"` // the evidence of the confined process
	Backends []Backend        `json:"backends"` // the strongest first
}

// Backend is the result for one backend of ethos-sandbox run --backend.
type Backend struct {
	Name     string           `json:"name"`
	OK       bool             `json:"ok"`               // every attempt had the promised result
	Detail   string           `json:"detail,omitempty"` // why it is not available
	Hint     string           `json:"hint,omitempty"`
	Checks   []Check          `json:"checks"`   // of a backend other than native; native's checks are the report's
	Controls []record.Control `json:"controls"` // the evidence of the confined process
}

func (c *Backend) text(b *strings.Builder) {
	what := map[bool]string{true: "passed every check", false: "failed some checks"}[c.OK]
	if c.Detail != "" {
		what = c.Detail
	}
	b.WriteString(printable.Sprintf("  %-9s %s\n", c.Name, what))
	if c.Hint != "" {
		b.WriteString(printable.Sprintf("            hint: %s\n", c.Hint))
	}
	for _, check := range c.Checks {
		if check.Outcome != Yes {
			b.WriteString(printable.Sprintf("            %s: %s\n", check.Outcome, check.Name))
		}
	}
	for _, state := range []string{"enforced", "degraded", "absent"} {
		var names []string
		for _, line := range c.Controls {
			if line.State == state {
				names = append(names, line.Name)
			}
		}
		if len(names) > 0 {
			b.WriteString(printable.Sprintf("            %s: %s\n", state, strings.Join(names, " ")))
		}
	}
}

// Text returns the report for people.
func (r Report) Text() string {
	var b strings.Builder
	b.WriteString(printable.Sprintf("kernel %s %s, user id %d, profile %s\n\n", r.Kernel, r.Arch, r.UID, r.Profile))
	if r.Ceiling != "" {
		b.WriteString(printable.Sprintf("bounded by %s, %s\n", ceiling.Dir, r.Ceiling))
		for _, line := range r.Bounds {
			b.WriteString(printable.Sprintf("  %s\n", line))
		}
		b.WriteByte('\n')
	}
	for _, c := range r.Checks {
		b.WriteString(printable.Sprintf("%-8s %s", c.Outcome, c.Name))
		if c.Detail != "" {
			b.WriteString(printable.Sprintf(": %s", c.Detail))
		}
		b.WriteByte('\n')
		if c.Hint != "" {
			b.WriteString(printable.Sprintf("         hint: %s\n", c.Hint))
		}
	}
	if len(r.Controls) > 0 {
		b.WriteString("\ncontrols\n")
	}
	for _, c := range r.Controls {
		b.WriteString(printable.Sprintf("  %-14s %s", c.State, c.Name))
		if c.Reason != "" {
			b.WriteString(printable.Sprintf(": %s", c.Reason))
		}
		b.WriteByte('\n')
	}
	if len(r.Backends) > 0 {
		b.WriteString("\nbackends (ethos-sandbox run --backend NAME)\n")
	}
	for i := range r.Backends {
		r.Backends[i].text(&b)
	}
	if r.OK {
		b.WriteString("\nthe default profile is enforced on this machine\n")
	} else {
		b.WriteString("\nthe default profile cannot be enforced on this machine\n")
	}
	return b.String()
}

func (r *Report) add(name, outcome, detail, hint string) {
	r.Checks = append(r.Checks, Check{Name: name, Outcome: outcome, Detail: detail, Hint: hint, Required: true})
}

// judge sets OK if every required check had the promised result.
func (r *Report) judge() {
	r.OK = len(r.Checks) > 0
	for _, c := range r.Checks {
		if c.Required && c.Outcome != Yes {
			r.OK = false
		}
	}
}
