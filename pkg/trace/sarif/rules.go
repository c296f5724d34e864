package sarif

import (
	"strings"
	"unicode"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// maxRules limits the rules described in a run; further results have only a ruleId (3.27.5).
const maxRules = 5000

// ruleSet holds the rules of a driver, in order of first use.
type ruleSet struct {
	list  []*rule
	index map[string]int
}

// use returns the rule's index, and describes the rule on first use. It returns nil if there are
// too many rules.
func (s *ruleSet) use(id string, describe func() *rule) *int {
	i, ok := s.index[id]
	if !ok {
		if len(s.list) == maxRules {
			return nil
		}
		if s.index == nil {
			s.index = map[string]int{}
		}
		i = len(s.list)
		s.index[id] = i
		s.list = append(s.list, describe())
	}
	return &i
}

// policyRule describes the policy behind a denial. Severity follows GitHub's bands: high from 7.0, medium from 4.0, low below.
func policyRule(r trace.Reason) *rule {
	level, severity := reasonLevel(r.Effect)
	help := multiformat{Text: sentence(r.Message)}
	if r.Remedy != "" {
		help.Text += " " + sentence(r.Remedy)
		help.Markdown = markdown(r.Message) + "\n\n**What to do instead:** " + markdown(r.Remedy)
	}
	tags := []string{"security", "ethos"}
	if r.Principle != "" {
		tags = append(tags, r.Principle)
	}
	properties := map[string]any{"tags": tags, "security-severity": severity, "precision": "very-high", "problem.severity": level}
	if r.File != "" {
		properties["policy"] = map[string]any{"pack": r.Pack, "file": r.File, "line": position(r.Line)}
	}
	return &rule{
		ID: r.ID, Name: pascal(r.ID), ShortDescription: &multiformat{Text: sentence(firstLine(r.Message))}, FullDescription: &multiformat{Text: sentence(r.Message)},
		Help: &help, DefaultConfiguration: &configuration{level}, Properties: properties,
	}
}

func reasonLevel(effect string) (level, severity string) {
	switch effect {
	case record.VerdictDeny:
		return "error", "8.0"
	case record.VerdictAsk:
		return "warning", "5.0"
	}
	return "warning", "3.0"
}

// findingRule describes a tool's rule as far as the tool's output allows.
func findingRule(id, toolName string, f trace.Finding) *rule {
	about := sentence(toolName + " rule " + id)
	r := &rule{ID: id, Name: pascal(id), HelpURI: f.HelpURI, ShortDescription: &multiformat{Text: about}, FullDescription: &multiformat{Text: about}, DefaultConfiguration: &configuration{string(f.Level)}}
	r.Help = &multiformat{Text: about + " See the documentation of " + toolName + "."}
	if f.HelpURI != "" {
		r.Help = &multiformat{Text: about + " " + f.HelpURI, Markdown: "[" + markdown(about) + "](" + f.HelpURI + ")"}
	}
	r.Properties = map[string]any{"tags": []string{toolName}, "problem.severity": problemSeverity(f.Level)}
	if f.Severity != "" {
		r.Properties["security-severity"] = f.Severity
		r.Properties["tags"] = []string{"security", toolName}
	}
	return r
}

func problemSeverity(l trace.Level) string {
	if l == trace.LevelNote {
		return "recommendation"
	}
	return string(l)
}

// pascal turns an id into a name of letters and digits. It returns "" if that would equal the id,
// which a name must not (SARIF1001).
func pascal(id string) string {
	var out strings.Builder
	up := true
	for _, r := range id {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			out.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			out.WriteRune(r)
		}
	}
	if strings.EqualFold(out.String(), id) {
		return ""
	}
	return out.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// sentence ends a text with a full stop, as viewers of SARIF expect.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "No description."
	}
	if strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// markdown escapes what GitHub-flavoured Markdown would interpret.
func markdown(s string) string {
	var out strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>()#+-!|~&", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
