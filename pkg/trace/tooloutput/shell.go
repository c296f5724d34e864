package tooloutput

import (
	"bytes"
	"strconv"
	"strings"

	"ethos/pkg/trace"
)

// shellcheck reads -f json, -f json1 and -f gcc. Source: shellcheck(1), formats.
func shellcheck(out Output) ([]trace.Finding, bool) {
	type comment struct {
		File, Level, Message string
		Line, EndLine        int
		Column, EndColumn    int
		Code                 int
	}
	var comments []comment
	if !firstJSON(out.Stdout, '[', &comments) {
		var report struct{ Comments []comment }
		if !firstJSON(out.Stdout, '{', &report) {
			return shellcheckText(out)
		}
		comments = report.Comments
	}
	var found []trace.Finding
	for _, c := range comments {
		rule := "SC" + strconv.Itoa(c.Code)
		found = append(found, trace.Finding{
			Rule: rule, Level: levelOf(c.Level), Message: c.Message, HelpURI: shellcheckHelp(rule),
			Path: c.File, Line: c.Line, Column: c.Column, EndLine: c.EndLine, EndColumn: c.EndColumn,
		})
	}
	return found, true
}

// shellcheckText reads -f gcc and the form for terminals: "In FILE line N:", the line, then "^-- SC1234 (level): message" below the column.
func shellcheckText(out Output) ([]trace.Finding, bool) {
	if !bytes.Contains(out.Stdout, []byte("^-- SC")) && !bytes.Contains(out.Stdout, []byte("-^ SC")) {
		return gccRules(out.Stdout, shellcheckHelp)
	}
	var found []trace.Finding
	var path string
	var number int
	for line := range lines(withoutColors(out.Stdout)) {
		if head, ok := strings.CutPrefix(line, "In "); ok && strings.HasSuffix(head, ":") {
			name, n, _ := strings.Cut(strings.TrimSuffix(head, ":"), " line ")
			path = name
			number, _ = strconv.Atoi(n)
			continue
		}
		marked, problem, ok := strings.Cut(line, " SC")
		if column := strings.IndexByte(marked, '^'); ok && column >= 0 && strings.Trim(marked, " ^-") == "" {
			code, rest, _ := strings.Cut(problem, " (")
			level, message, _ := strings.Cut(rest, "): ")
			found = append(found, trace.Finding{
				Rule: "SC" + code, Level: levelOf(level), Message: message, HelpURI: shellcheckHelp("SC" + code), Path: path, Line: number, Column: column + 1,
			})
		}
	}
	return found, len(found) > 0
}

func shellcheckHelp(rule string) string { return "https://www.shellcheck.net/wiki/" + rule }

// gcc reads the form of GCC and of the many tools that follow it: file:line:column: severity: message [rule].
func gcc(out Output) ([]trace.Finding, bool) { return gccRules(out.all(), nil) }

func gccRules(text []byte, help func(rule string) string) ([]trace.Finding, bool) {
	return scanText([]string{"%f:%l:%c: %m", "%f:%l: %m"}, text, func(f *trace.Finding) bool {
		severity, message := firstWord(f.Message)
		if word := trimColon(severity); word != severity {
			f.Level, f.Message = levelOf(word), message
			if word == "fatal" {
				f.Message = message[len("error: "):]
			}
		}
		f.Message, f.Rule = cutRule(f.Message, " [", "]")
		if help != nil && f.Rule != "" {
			f.HelpURI = help(f.Rule)
		}
		return true
	})
}

// hadolint reads hadolint -f json and its text. Source: github.com/hadolint/hadolint, README, output formats.
func hadolint(out Output) ([]trace.Finding, bool) {
	var problems []struct {
		Code, File, Level, Message string
		Line, Column               int
	}
	if !firstJSON(out.Stdout, '[', &problems) {
		return scanText([]string{"%f:%l %m"}, out.Stdout, func(f *trace.Finding) bool {
			f.Rule, f.Message = firstWord(f.Message)
			if severity, message := firstWord(f.Message); trimColon(severity) != severity {
				f.Level, f.Message = levelOf(trimColon(severity)), message
			}
			f.HelpURI = hadolintHelp(f.Rule)
			return true
		})
	}
	var found []trace.Finding
	for _, p := range problems {
		found = append(found, trace.Finding{
			Rule: p.Code, Level: levelOf(p.Level), Message: p.Message, HelpURI: hadolintHelp(p.Code), Path: p.File, Line: p.Line, Column: p.Column,
		})
	}
	return found, true
}

func hadolintHelp(rule string) string {
	if len(rule) > 2 && rule[:2] == "SC" {
		return shellcheckHelp(rule)
	}
	return "https://github.com/hadolint/hadolint/wiki/" + rule
}

// actionlint reads -format '{{json .}}' and its text: file:line:column: message [rule]. Source: rhysd/actionlint, docs/usage.md.
func actionlint(out Output) ([]trace.Finding, bool) {
	var problems []struct {
		Message, Filepath, Kind string
		Line, Column            int
	}
	if !firstJSON(out.Stdout, '[', &problems) {
		return scanText([]string{"%f:%l:%c: %m"}, out.Stdout, func(f *trace.Finding) bool {
			f.Level = trace.LevelError
			f.Message, f.Rule = cutRule(f.Message, " [", "]")
			return f.Rule != ""
		})
	}
	var found []trace.Finding
	for _, p := range problems {
		found = append(found, trace.Finding{Rule: p.Kind, Level: trace.LevelError, Message: p.Message, Path: p.Filepath, Line: p.Line, Column: p.Column})
	}
	return found, true
}

// yamllint reads -f parsable: file:line:column: [level] message (rule). Source: yamllint.readthedocs.io.
func yamllint(out Output) ([]trace.Finding, bool) {
	return scanText([]string{"%f:%l:%c: [%t%*[a-z]] %m"}, out.all(), func(f *trace.Finding) bool {
		f.Message, f.Rule = cutRule(f.Message, " (", ")")
		if f.Rule != "" {
			f.HelpURI = "https://yamllint.readthedocs.io/en/stable/rules.html#module-yamllint.rules." + f.Rule
		}
		return true
	})
}

// fileList parses a list of non-conforming files, one per line: gofmt -l, prettier -l.
func fileList(out Output) (found []trace.Finding, ok bool) {
	for line := range lines(out.Stdout) {
		found = append(found, trace.Finding{Rule: "format", Level: trace.LevelWarning, Path: line, Line: 1, Message: "not formatted as the tool would"})
	}
	return found, true
}
