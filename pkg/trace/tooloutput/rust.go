package tooloutput

import (
	"strings"

	"ethos/pkg/trace"
)

// cargo reads cargo build, check, clippy and test with --message-format json. Source: doc.rust-lang.org/cargo/reference/external-tools.html.
func cargo(out Output) (found []trace.Finding, ok bool) {
	type span struct {
		FileName    string `json:"file_name"`
		LineStart   int    `json:"line_start"`
		LineEnd     int    `json:"line_end"`
		ColumnStart int    `json:"column_start"`
		ColumnEnd   int    `json:"column_end"`
		IsPrimary   bool   `json:"is_primary"`
	}
	type event struct {
		Reason  string
		Message *struct {
			Level, Message string
			Code           *struct{ Code string }
			Spans          []span
		}
	}
	for e := range jsonLines[event](out.Stdout) {
		if e == nil {
			continue
		}
		ok = ok || e.Reason != ""
		m := e.Message
		if e.Reason != "compiler-message" || m == nil || len(m.Spans) == 0 && m.Code == nil {
			continue // "2 warnings emitted" and the like
		}
		f := trace.Finding{Level: levelOf(m.Level), Message: m.Message}
		if m.Code != nil {
			f.Rule, f.HelpURI = m.Code.Code, rustHelp(m.Code.Code)
		}
		for _, s := range m.Spans {
			if s.IsPrimary {
				f.Path, f.Line, f.Column, f.EndLine, f.EndColumn = s.FileName, s.LineStart, s.ColumnStart, s.LineEnd, s.ColumnEnd
				break
			}
		}
		found = append(found, f)
	}
	if ok {
		return found, true
	}
	return cargoText(out)
}

// cargoText reads rustc's text: "error[E0308]: message", then " --> file:line:column".
func cargoText(out Output) (found []trace.Finding, ok bool) {
	var head trace.Finding
	for line := range lines(withoutColors(out.all())) {
		if place, is := strings.CutPrefix(strings.TrimLeft(line, " "), "--> "); is && head.Message != "" {
			head.Path, head.Line, head.Column = position(place)
			found = append(found, head)
			head = trace.Finding{}
			continue
		}
		kind, message, is := strings.Cut(line, ": ")
		level, code, _ := strings.Cut(strings.TrimSuffix(kind, "]"), "[")
		if is && (level == "error" || level == "warning") {
			head = trace.Finding{Level: levelOf(level), Rule: code, Message: message, HelpURI: rustHelp(code)}
		}
	}
	return found, len(found) > 0
}

func rustHelp(code string) string {
	if name, ok := strings.CutPrefix(code, "clippy::"); ok {
		return "https://rust-lang.github.io/rust-clippy/master/index.html#" + name
	}
	if len(code) == 5 && code[0] == 'E' {
		return "https://doc.rust-lang.org/error_codes/" + code + ".html"
	}
	return ""
}
