package tooloutput

import (
	"strings"

	"ethos/pkg/trace"
)

// eslint reads eslint -f json and its stylish text. Source: eslint.org/docs/latest/use/formatters/#json.
func eslint(out Output) ([]trace.Finding, bool) {
	type message struct {
		RuleID             *string
		Severity           int
		Fatal              bool
		Message            string
		Line, Column       int
		EndLine, EndColumn int
	}
	var files []struct {
		FilePath string
		Messages []message
	}
	if !firstJSON(out.Stdout, '[', &files) {
		return eslintText(out)
	}
	var found []trace.Finding
	for _, file := range files {
		for _, m := range file.Messages {
			f := trace.Finding{
				Level: trace.LevelWarning, Message: m.Message, Path: file.FilePath,
				Line: m.Line, Column: m.Column, EndLine: m.EndLine, EndColumn: m.EndColumn,
			}
			if m.RuleID != nil {
				f.Rule, f.HelpURI = *m.RuleID, eslintHelp(*m.RuleID)
			}
			if m.Fatal || m.Severity == 2 {
				f.Level = trace.LevelError
			}
			found = append(found, f)
		}
	}
	return found, true
}

// eslintText parses the stylish form: a line with the file, then an indented line per problem, with
// columns separated by at least two spaces.
func eslintText(out Output) (found []trace.Finding, ok bool) {
	var path string
	for line := range strings.Lines(string(out.Stdout)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			path = line
			continue
		}
		place, rest := firstWord(line)
		head, lineNo, column := position("x:" + place)
		severity, message := firstWord(rest)
		if head != "x" || column == 0 || severity != "error" && severity != "warning" {
			continue
		}
		f := trace.Finding{Level: levelOf(severity), Path: path, Line: lineNo, Column: column, Message: message}
		if i := strings.LastIndex(message, "  "); i >= 0 {
			f.Message, f.Rule = strings.TrimSpace(message[:i]), strings.TrimSpace(message[i:])
			f.HelpURI = eslintHelp(f.Rule)
		}
		found = append(found, f)
	}
	return found, len(found) > 0 || len(strings.TrimSpace(string(out.Stdout))) == 0
}

// eslintHelp returns the page of a core rule; rules of plug-ins have a slash in their name.
func eslintHelp(rule string) string {
	if rule == "" || strings.Contains(rule, "/") {
		return ""
	}
	return "https://eslint.org/docs/latest/rules/" + rule
}

// tsc reads the TypeScript compiler's text with --pretty false: file(line,column): error TS1234: message; further lines are indented.
func tsc(out Output) ([]trace.Finding, bool) {
	text := []byte(strings.ReplaceAll(string(out.all()), "\n  ", " "))
	return scanText([]string{"%f(%l\\,%c): %m", "%f:%l:%c - %m", "%trror TS%n: %m"}, text, func(f *trace.Finding) bool {
		severity, rest := firstWord(f.Message)
		code, message := firstWord(rest)
		if !strings.HasPrefix(code, "TS") {
			f.Level = trace.LevelError
			return f.Path == ""
		}
		f.Level, f.Rule, f.Message = levelOf(severity), trimColon(code), message
		return true
	})
}
