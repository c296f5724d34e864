package sarif

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// draft is a result whose fingerprint is not complete.
type draft struct {
	result   result
	identity []string  // parts of the fingerprint
	artifact *artifact // the command itself, if the result is located in it
}

// denial returns the result for one reason against an action. Its location is the policy file if
// that is in the workspace, else the command, which the log then contains.
func (r *run) denial(e *trace.Entry, reason trace.Reason) draft {
	level, _ := reasonLevel(reason.Effect)
	text := sentence(reason.Message)
	if reason.Remedy != "" {
		text += " " + sentence(reason.Remedy)
	}
	command := e.Command()
	d := draft{identity: []string{reason.ID, command}}
	d.result = result{
		RuleID: reason.ID, Level: level, Message: message{text + " Command: " + printable.Clip(command, 400)},
		RuleIndex:  r.rules.use(reason.ID, func() *rule { return policyRule(reason) }),
		Properties: map[string]any{"action": e.Line.ID(), "effect": reason.Effect, "outcome": string(e.Outcome())},
	}
	if reason.File != "" && !strings.HasPrefix(reason.File, "pack:") {
		d.result.Locations = []location{r.at(e, reason.File, reason.Line)}
	} else {
		d.locateInCommand(r, e)
	}
	return d.attributed(r)
}

// at returns the location of a line in a file with an absolute path, or one relative to the
// workspace.
func (r *run) at(e *trace.Entry, file string, line int) location {
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(e.Action.Workspace, "/")+"/"); ok {
		file = rest
	}
	return location{PhysicalLocation: physicalLocation{
		ArtifactLocation: r.bases.locate(e.Action.Workspace, path.Clean(file)),
		Region:           &region{StartLine: max(position(line), 1)},
	}}
}

// attributed links the result to the last invocation.
func (d draft) attributed(r *run) draft {
	if r.invocations.n > 0 {
		d.result.Provenance = &provenance{r.invocations.n - 1}
	}
	return d
}

func (d *draft) locateInCommand(r *run, e *trace.Entry) {
	line, column := 1, 1
	if c := e.Facts.Shell.Commands; len(c) > 0 && e.Action.Kind == record.KindShell {
		line, column = max(position(c[0].Line), 1), max(position(c[0].Column), 1)
	}
	d.locateInText(r, e.Action.Workspace, e.Command(), line, column)
}

func (d *draft) locateInText(r *run, workspace, text string, line, column int) {
	sum := sha256.Sum256([]byte(text))
	place := r.bases.locate(workspace, ".coding-ethos/commands/"+hex.EncodeToString(sum[:8])+".sh")
	if workspace == "" {
		place = artifactLocation{URI: ".coding-ethos/commands/" + hex.EncodeToString(sum[:8]) + ".sh"}
	}
	text = printable.Text(text) // its length is stated
	d.artifact = &artifact{
		Location: place, Length: len(text), MimeType: "text/x-shellscript", SourceLanguage: "shell",
		Roles: []string{"analysisTarget"}, Contents: content{text},
	}
	d.result.Locations = []location{{PhysicalLocation: physicalLocation{
		ArtifactLocation: place, Region: &region{StartLine: line, StartColumn: column, Snippet: &content{printable.Clip(text, 400)}},
	}}}
}

// finding returns the result for a tool's finding. A finding without a position is located in the
// command that reported it.
func (r *run) finding(e *trace.Entry, f trace.Finding) draft {
	id := ruleID(f)
	d := draft{identity: []string{id, f.Tool, f.Path, f.Message}}
	if f.Rule == trace.RuleFailed {
		d.identity = []string{id, e.Command()}
	}
	d.result = result{
		RuleID: id, Level: string(f.Level), Message: message{literal(f.Message)},
		RuleIndex:  r.rules.use(id, func() *rule { return findingRule(id, toolOf(r, f), f) }),
		Properties: map[string]any{"action": e.Line.ID()},
	}
	if f.Path == "" {
		d.locateInCommand(r, e)
		return d.attributed(r)
	}
	d.result.Locations = []location{{PhysicalLocation: physicalLocation{
		ArtifactLocation: r.bases.locate(e.Action.Workspace, f.Path), Region: regionOf(f),
	}}}
	return d.attributed(r)
}

// ruleID returns the name of the rule; inside a tool of tools the tool comes first.
func ruleID(f trace.Finding) string {
	switch {
	case f.Rule == "":
		return cmp.Or(f.Tool, "finding")
	case f.Tool == "" || f.Tool == f.Rule:
		return f.Rule
	}
	return f.Tool + "/" + f.Rule
}

func toolOf(r *run, f trace.Finding) string {
	if f.Tool != "" {
		return f.Tool
	}
	return r.name
}

func regionOf(f trace.Finding) *region {
	g := &region{StartLine: max(position(f.Line), 1)}
	if position(f.Line) > 0 {
		g.StartColumn = position(f.Column)
		g.EndLine = position(f.EndLine)
		if g.EndLine > 0 && g.StartColumn > 0 {
			g.EndColumn = position(f.EndColumn)
		}
	}
	return g
}

const invalidRule = "ethos.invalid_record"

func (r *run) badLine(id string, e record.Error) draft {
	d := draft{identity: []string{invalidRule, e.Stage, e.Code, e.InputSHA256}}
	d.result = result{
		RuleID: invalidRule, Level: "error",
		Message:    message{literal(fmt.Sprintf("ethos-%s could not take line %d: %s: %s.", e.Stage, e.Line, e.Code, e.Message))},
		RuleIndex:  r.rules.use(invalidRule, invalidRecordRule),
		Properties: map[string]any{"action": id, "code": e.Code, "stage": e.Stage},
	}
	d.locateInText(r, "", e.InputPrefix, 1, 1)
	return d.attributed(r)
}

func invalidRecordRule() *rule {
	return policyRule(trace.Reason{
		ID: invalidRule, Effect: record.VerdictDeny,
		Message: "A line of the pipe was not valid and was treated as denied.", Remedy: "Look at the command that wrote the line.",
	})
}

// literal escapes square brackets, which would be read as a link (3.11.6).
func literal(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(s)
}
