package tooloutput

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"ethos/pkg/trace"
)

// The part of SARIF 2.1.0 that findings are read from.
type (
	sarifMessage struct {
		Text      string
		ID        string
		Arguments []string
	}
	sarifRule struct {
		ID                   string
		HelpURI              string
		DefaultConfiguration struct{ Level string }
		MessageStrings       map[string]sarifMessage
		Properties           map[string]json.RawMessage
	}
	sarifPlace struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI, URIBaseID string }
			Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
		}
	}
	sarifResult struct {
		RuleID       string
		RuleIndex    *int
		Rule         struct{ ID string }
		Level, Kind  string
		Message      sarifMessage
		Locations    []sarifPlace
		Suppressions []struct{ Status string }
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []sarifRule
			}
		}
		OriginalURIBaseIDs map[string]struct{ URI string }
		Results            []sarifResult
	}
)

// sarifLog reads a SARIF 2.1.0 log (OASIS, section 3).
func sarifLog(out Output) ([]trace.Finding, bool) {
	var log struct {
		Version string
		Runs    []sarifRun
	}
	if !firstJSON(out.Stdout, '{', &log) || log.Version != "2.1.0" {
		return nil, false
	}
	var found []trace.Finding
	for _, run := range log.Runs {
		for _, r := range run.Results {
			if reported(r) {
				found = append(found, run.finding(r))
			}
		}
	}
	return found, true
}

// reported is false for results that the tool says are not problems, or that were suppressed.
func reported(r sarifResult) bool {
	for _, s := range r.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return false
		}
	}
	return r.Level != "none" && (r.Kind == "" || r.Kind == "fail" || r.Kind == "review" || r.Kind == "open")
}

func (run *sarifRun) finding(r sarifResult) trace.Finding {
	rule := run.rule(r)
	f := trace.Finding{
		Tool: run.Tool.Driver.Name, Rule: cmp.Or(r.RuleID, cmp.Or(r.Rule.ID, rule.ID)), HelpURI: rule.HelpURI,
		Level:    levelOf(cmp.Or(r.Level, cmp.Or(rule.DefaultConfiguration.Level, "warning"))),
		Message:  r.Message.text(rule),
		Severity: number(rule.Properties["security-severity"]),
	}
	if len(r.Locations) > 0 {
		p := r.Locations[0].PhysicalLocation
		f.Path = run.resolve(p.ArtifactLocation.URI, p.ArtifactLocation.URIBaseID)
		f.Line, f.Column, f.EndLine, f.EndColumn = p.Region.StartLine, p.Region.StartColumn, p.Region.EndLine, p.Region.EndColumn
		if f.EndColumn > 0 && f.EndLine == 0 {
			f.EndLine = f.Line // SARIF 3.30.7
		}
	}
	return f
}

func (run *sarifRun) rule(r sarifResult) sarifRule {
	rules := run.Tool.Driver.Rules
	if r.RuleIndex != nil && *r.RuleIndex >= 0 && *r.RuleIndex < len(rules) {
		return rules[*r.RuleIndex]
	}
	for _, rule := range rules {
		if rule.ID == r.RuleID && r.RuleID != "" {
			return rule
		}
	}
	return sarifRule{}
}

// text resolves a message that refers to one of its rule's strings, with {0} placeholders (SARIF
// 3.11).
func (m sarifMessage) text(rule sarifRule) string {
	text := m.Text
	if text == "" {
		text = rule.MessageStrings[m.ID].Text
	}
	for i, argument := range m.Arguments {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", argument)
	}
	return text
}

// resolve converts a URI and its base to a path. A base without a URI of its own is the directory
// in which the tool ran.
func (run *sarifRun) resolve(uri, base string) string {
	if b := run.OriginalURIBaseIDs[base].URI; b != "" && !strings.Contains(uri, "://") {
		uri = strings.TrimSuffix(b, "/") + "/" + uri
	}
	if u, err := url.Parse(uri); err == nil && (u.Scheme == "file" || u.Scheme == "") {
		return u.Path
	}
	return ""
}
