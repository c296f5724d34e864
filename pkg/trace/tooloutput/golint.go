package tooloutput

import (
	"cmp"
	"strings"

	"ethos/pkg/trace"
)

// staticcheck reads staticcheck -f json (one object a line) and -f text (file:line:column: message (CODE)).
// Source: staticcheck.dev/docs/running-staticcheck/cli/formatters.
func staticcheck(out Output) ([]trace.Finding, bool) {
	if !looksJSON(out.Stdout) {
		return scanText([]string{"%f:%l:%c: %m"}, joinTabs(out.all()), func(f *trace.Finding) bool {
			if f.Message, f.Rule = cutRule(f.Message, " (", ")"); f.Rule == "" || f.Rule == "compile" {
				f.Rule, f.Level = "compile", trace.LevelError
			}
			f.HelpURI = staticcheckHelp(f.Rule)
			return strings.HasSuffix(f.Path, ".go")
		})
	}
	type pos struct {
		File         string
		Line, Column int
	}
	type problem struct {
		Code, Severity, Message string
		Location, End           pos
	}
	var found []trace.Finding
	for p := range jsonLines[problem](out.Stdout) {
		switch {
		case p == nil:
		case p.Location.File == "": // the compiler's errors are reported as one problem
			errors, _ := goText(Output{Stdout: []byte(p.Message)})
			for i := range errors {
				errors[i].Rule = p.Code
			}
			found = append(found, errors...)
		default:
			found = append(found, trace.Finding{
				Rule: p.Code, Level: levelOf(p.Severity), Message: p.Message, HelpURI: staticcheckHelp(p.Code),
				Path: p.Location.File, Line: p.Location.Line, Column: p.Location.Column, EndLine: p.End.Line, EndColumn: p.End.Column,
			})
		}
	}
	return found, len(found) > 0
}

func staticcheckHelp(code string) string {
	if len(code) < 5 {
		return "" // "compile" and the like have no page
	}
	switch code[:2] {
	case "SA", "ST", "QF", "S1", "U1":
		return "https://staticcheck.dev/docs/checks/#" + code
	}
	return ""
}

// golangci reads golangci-lint's JSON (v1 --out-format json, v2 --output.json.path stdout) and its text.
// Source: golangci-lint.run/docs/configuration/file, pkg/printers/json.go.
func golangci(out Output) ([]trace.Finding, bool) {
	type issue struct {
		FromLinter, Text, Severity string
		Pos                        struct {
			Filename     string
			Line, Column int
		}
	}
	var report struct{ Issues []issue }
	if !firstJSON(out.Stdout, '{', &report) {
		return scanText([]string{"%f:%l:%c: %m", "%f:%l: %m"}, out.Stdout, func(f *trace.Finding) bool {
			f.Message, f.Tool = cutRule(f.Message, " (", ")")
			f.Rule, f.Message = golangciRule(f.Tool, f.Message)
			f.Level = trace.LevelError
			return strings.HasSuffix(f.Path, ".go")
		})
	}
	var found []trace.Finding
	for _, i := range report.Issues {
		f := trace.Finding{Tool: i.FromLinter, Level: levelOf(cmp.Or(i.Severity, "error")), Path: i.Pos.Filename, Line: i.Pos.Line, Column: i.Pos.Column}
		f.Rule, f.Message = golangciRule(i.FromLinter, i.Text)
		found = append(found, f)
	}
	return found, true
}

// golangciRule splits off a linter's rule at the beginning of a message: "S1005: …", "G101: …".
func golangciRule(linter, message string) (rule, rest string) {
	code, rest, ok := strings.Cut(message, ": ")
	letters := strings.TrimRight(code, "0123456789")
	if ok && letters != "" && len(letters) <= 3 && len(code) > len(letters) && strings.ToUpper(letters) == letters {
		return code, rest
	}
	return linter, message
}
