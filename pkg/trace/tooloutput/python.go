package tooloutput

import (
	"bytes"
	"cmp"
	"strings"

	"ethos/pkg/trace"
)

// ruff reads ruff check --output-format json, and its text. Source: docs.astral.sh/ruff/settings/#output-format.
func ruff(out Output) ([]trace.Finding, bool) {
	type place struct{ Row, Column int }
	type problem struct {
		Code, Filename, Message, URL string
		Severity                     string
		Location                     place
		EndLocation                  place `json:"end_location"`
	}
	var problems []problem
	if !firstJSON(out.Stdout, '[', &problems) {
		return scanText([]string{"%f:%l:%c: %m"}, out.Stdout, func(f *trace.Finding) bool {
			f.Rule, f.Message = firstWord(f.Message)
			return true
		})
	}
	var found []trace.Finding
	for _, p := range problems {
		f := trace.Finding{
			Rule: cmp.Or(p.Code, "invalid-syntax"), Level: trace.LevelWarning, Message: p.Message, HelpURI: p.URL,
			Path: p.Filename, Line: p.Location.Row, Column: p.Location.Column, EndLine: p.EndLocation.Row, EndColumn: p.EndLocation.Column,
		}
		if p.Code == "" || p.Severity == "error" {
			f.Level = trace.LevelError
		}
		found = append(found, f)
	}
	return found, true
}

// pyright reads pyright --outputjson; positions are 0-based. Source: microsoft.github.io/pyright/#/command-line.
func pyright(out Output) ([]trace.Finding, bool) {
	type place struct{ Line, Character int }
	type diagnostic struct {
		File, Severity, Message, Rule string
		Range                         struct{ Start, End place }
	}
	var report struct{ GeneralDiagnostics []diagnostic }
	if !firstJSON(out.Stdout, '{', &report) {
		return pyrightText(out)
	}
	var found []trace.Finding
	for _, d := range report.GeneralDiagnostics {
		f := trace.Finding{
			Rule: d.Rule, Level: levelOf(d.Severity), Message: strings.ReplaceAll(d.Message, "\u00a0", " "), Path: d.File,
			Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1, EndLine: d.Range.End.Line + 1, EndColumn: d.Range.End.Character + 1,
			HelpURI: pyrightHelp(d.Rule),
		}
		found = append(found, f)
	}
	return found, true
}

func pyrightHelp(rule string) string {
	if rule == "" {
		return ""
	}
	return "https://github.com/microsoft/pyright/blob/main/docs/configuration.md#" + rule
}

// pyrightText reads "  file:line:column - error: message (rule)", whose message goes on in lines that are indented further.
func pyrightText(out Output) ([]trace.Finding, bool) {
	text := bytes.ReplaceAll(out.Stdout, []byte("\u00a0"), []byte(" "))
	text = bytes.ReplaceAll(text, []byte("\n    "), []byte(" "))
	return scanText([]string{"  %f:%l:%c - %m"}, text, func(f *trace.Finding) bool {
		severity, message := firstWord(f.Message)
		f.Level = levelOf(trimColon(severity))
		f.Message, f.Rule = cutRule(message, " (", ")")
		f.HelpURI = pyrightHelp(f.Rule)
		return true
	})
}

// mypy reads mypy's text (file:line[:column[:endline:endcolumn]]: severity: message  [code]) and --output json (columns 0-based).
// Source: mypy.readthedocs.io/en/stable/command_line.html, mypy/error_formatter.py.
func mypy(out Output) ([]trace.Finding, bool) {
	if !looksJSON(out.Stdout) {
		return scanText([]string{"%f:%l:%c:%e:%k: %m", "%f:%l:%c: %m", "%f:%l: %m"}, out.Stdout, mypyMessage)
	}
	type problem struct {
		File, Message, Code, Severity string
		Hint                          string
		Line, Column                  int
	}
	var found []trace.Finding
	for p := range jsonLines[problem](out.Stdout) {
		if p == nil {
			continue
		}
		message := p.Message
		if p.Hint != "" {
			message += "\n" + p.Hint
		}
		found = append(found, trace.Finding{Rule: p.Code, Level: levelOf(p.Severity), Message: message, HelpURI: mypyHelp(p.Code), Path: p.File, Line: p.Line, Column: p.Column + 1})
	}
	return found, len(found) > 0
}

func mypyMessage(f *trace.Finding) bool {
	severity, message := firstWord(f.Message)
	f.Level = levelOf(trimColon(severity))
	f.Message, f.Rule = cutRule(message, " [", "]")
	f.HelpURI = mypyHelp(f.Rule)
	return true
}

func mypyHelp(code string) string {
	if code == "" {
		return ""
	}
	return "https://mypy.readthedocs.io/en/stable/_refs.html#code-" + code
}

// pylint reads pylint -f json, -f json2 and its text; JSON columns are 0-based. Source: pylint/reporters/json_reporter.py.
func pylint(out Output) ([]trace.Finding, bool) {
	type message struct {
		Type, Path, Symbol, Message string
		ID                          string `json:"message-id"`
		ID2                         string `json:"messageId"`
		Line, Column                int
		EndLine, EndColumn          *int
	}
	var messages []message
	if !firstJSON(out.Stdout, '[', &messages) {
		var report struct{ Messages []message }
		if !firstJSON(out.Stdout, '{', &report) {
			return scanText([]string{"%f:%l:%c: %m", "%f:%l: %m"}, out.Stdout, pylintText)
		}
		messages = report.Messages
	}
	var found []trace.Finding
	for _, m := range messages {
		f := trace.Finding{
			Rule: cmp.Or(m.Symbol, cmp.Or(m.ID, m.ID2)), Level: pylintLevel(m.Type), Message: m.Message, HelpURI: pylintHelp(m.Type, m.Symbol),
			Path: m.Path, Line: m.Line, Column: m.Column + 1,
		}
		if m.EndLine != nil && m.EndColumn != nil {
			f.EndLine, f.EndColumn = *m.EndLine, *m.EndColumn+1
		}
		found = append(found, f)
	}
	return found, true
}

// pylintText splits "C0114: Missing module docstring (missing-module-docstring)".
func pylintText(f *trace.Finding) bool {
	id, message := firstWord(f.Message)
	f.Message, f.Rule = cutRule(message, " (", ")")
	id = trimColon(id)
	f.Rule = cmp.Or(f.Rule, id)
	if id != "" {
		f.Level = pylintLevel(map[byte]string{'C': "convention", 'R': "refactor", 'W': "warning", 'E': "error", 'F': "fatal", 'I': "info"}[id[0]])
	}
	f.Column++
	return true
}

func pylintLevel(kind string) trace.Level {
	if kind == "refactor" {
		return trace.LevelNote
	}
	return levelOf(kind)
}

func pylintHelp(kind, symbol string) string {
	if kind == "" || symbol == "" {
		return ""
	}
	return "https://pylint.readthedocs.io/en/stable/user_guide/messages/" + kind + "/" + symbol + ".html"
}

// bandit reads bandit -f json. Source: bandit.readthedocs.io/en/latest/formatters/json.html.
func bandit(out Output) ([]trace.Finding, bool) {
	type problem struct {
		Filename  string
		Text      string `json:"issue_text"`
		Severity  string `json:"issue_severity"`
		Line      int    `json:"line_number"`
		Column    *int   `json:"col_offset"`
		MoreInfo  string `json:"more_info"`
		ID        string `json:"test_id"`
		Name      string `json:"test_name"`
		LineRange []int  `json:"line_range"`
	}
	var report struct {
		Results []problem
		Errors  []struct{ Filename, Reason string }
	}
	if !firstJSON(out.Stdout, '{', &report) {
		return nil, false
	}
	var found []trace.Finding
	for _, p := range report.Results {
		f := trace.Finding{Rule: p.ID, Level: levelOf(p.Severity), Message: p.Text, HelpURI: p.MoreInfo, Path: p.Filename, Line: p.Line, Severity: banditSeverity(p.Severity)}
		if p.Column != nil {
			f.Column = *p.Column + 1
		}
		found = append(found, f)
	}
	for _, e := range report.Errors {
		found = append(found, trace.Finding{Rule: "error", Level: trace.LevelError, Message: e.Reason, Path: e.Filename})
	}
	return found, true
}

// banditSeverity maps bandit's three levels to the bands of security-severity (low < 4.0, medium <
// 7.0, high < 9.0).
func banditSeverity(word string) string {
	return map[string]string{"LOW": "3.0", "MEDIUM": "5.5", "HIGH": "8.0"}[word]
}
