package tooloutput

import (
	"strconv"
	"strings"

	"ethos/pkg/trace"
)

// sqlfluff reads sqlfluff lint --format json, of versions 1 to 3. Source: docs.sqlfluff.com/en/stable/reference/cli.html.
func sqlfluff(out Output) ([]trace.Finding, bool) {
	type violation struct {
		Code, Description string
		Name              string
		LineNo            int `json:"line_no"`
		LinePos           int `json:"line_pos"`
		StartLine         int `json:"start_line_no"`
		StartPos          int `json:"start_line_pos"`
		EndLine           int `json:"end_line_no"`
		EndPos            int `json:"end_line_pos"`
		Warning           bool
	}
	var files []struct {
		Filepath   string
		Violations []violation
	}
	if !firstJSON(out.Stdout, '[', &files) {
		return sqlfluffText(out)
	}
	var found []trace.Finding
	for _, file := range files {
		for _, v := range file.Violations {
			f := trace.Finding{
				Rule: v.Code, Level: trace.LevelWarning, Message: v.Description, Path: file.Filepath,
				Line: max(v.LineNo, v.StartLine), Column: max(v.LinePos, v.StartPos), EndLine: v.EndLine, EndColumn: v.EndPos,
			}
			if v.Code == "PRS" || v.Code == "TMP" {
				f.Level = trace.LevelError
			}
			found = append(found, f)
		}
	}
	return found, true
}

// sqlfluffText reads "== [file] FAIL" and "L:   1 | P:  10 | L008 | message", whose message goes on in lines with an empty head.
func sqlfluffText(out Output) (found []trace.Finding, ok bool) {
	var path string
	for line := range lines(withoutColors(out.Stdout)) {
		if rest, is := strings.CutPrefix(line, "== ["); is {
			path, _, _ = strings.Cut(rest, "]")
			ok = true
			continue
		}
		cells := strings.SplitN(line, "|", 4)
		if len(cells) == 2 && strings.TrimSpace(cells[0]) == "" && len(found) > 0 {
			found[len(found)-1].Message += " " + strings.TrimSpace(cells[1])
		}
		if len(cells) != 4 || !strings.HasPrefix(cells[0], "L:") {
			continue
		}
		f := trace.Finding{Rule: strings.TrimSpace(cells[2]), Level: trace.LevelWarning, Message: strings.TrimSpace(cells[3]), Path: path}
		f.Line, _ = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(cells[0], "L:")))
		f.Column, _ = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(cells[1]), "P:")))
		if f.Rule == "PRS" || f.Rule == "TMP" {
			f.Level = trace.LevelError
		}
		found = append(found, f)
	}
	return found, ok
}
