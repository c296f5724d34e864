package compat

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

var goLine = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

var goStatus = map[string]Status{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped}

// ParseGo parses the output of a Go test program with -test.v. If a program
// crashes or is killed, its last line is missing; then the test that was
// running is Missing, and so is "(all)", which stands for the whole program.
func ParseGo(output []byte) ([]Case, error) {
	var cases []Case
	var since strings.Builder
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "PASS" || line == "FAIL" {
			cases = append(cases, Case{Name: "(all)", Status: goStatus[line]})
			continue
		}
		since.WriteString(line + "\n")
		if m := goLine.FindStringSubmatch(line); m != nil {
			cases = append(cases, Case{Name: m[2], Status: goStatus[m[1]], Output: since.String()})
			since.Reset()
		}
	}
	if len(cases) == 0 || cases[len(cases)-1].Name != "(all)" {
		cases = append(cases, Case{Name: "(all)", Status: Failed, Output: tail(string(output), 40)})
	}
	return cases, nil
}

// element is any element of a JUnit report.
type element struct {
	XMLName   xml.Name
	Name      string    `xml:"name,attr"`
	Classname string    `xml:"classname,attr"`
	Message   string    `xml:"message,attr"`
	Text      string    `xml:",chardata"`
	Inner     []element `xml:",any"`
}

// ParseJUnit parses JUnit XML, which many runners write: CPython's, vitest,
// Maven's Surefire. The report may contain several documents.
func ParseJUnit(report []byte) ([]Case, error) {
	var cases []Case
	d := xml.NewDecoder(bytes.NewReader(report))
	for {
		var root element
		switch err := d.Decode(&root); {
		case errors.Is(err, io.EOF):
			return cases, nil
		case err != nil:
			return nil, fmt.Errorf("JUnit report: %w", err)
		}
		cases = root.cases(cases)
	}
}

func (e element) cases(list []Case) []Case {
	if e.XMLName.Local != "testcase" {
		for _, inner := range e.Inner {
			list = inner.cases(list)
		}
		return list
	}
	c := Case{Name: e.Name, Status: Passed}
	if e.Classname != "" {
		c.Name = e.Classname + " " + e.Name
	}
	for _, inner := range e.Inner {
		switch inner.XMLName.Local {
		case "failure", "error":
			c.Status = Failed
			c.Output += inner.Message + "\n" + inner.Text
		case "skipped":
			c.Status = Skipped
		}
	}
	return append(list, c)
}

// ParseJest parses the output of jest --json.
func ParseJest(report []byte) ([]Case, error) {
	var all struct {
		TestResults []struct {
			AssertionResults []struct {
				FullName        string   `json:"fullName"`
				Status          string   `json:"status"`
				FailureMessages []string `json:"failureMessages"`
			} `json:"assertionResults"`
		} `json:"testResults"`
	}
	if err := json.Unmarshal(report, &all); err != nil {
		return nil, fmt.Errorf("report of jest: %w", err)
	}
	var cases []Case
	for _, file := range all.TestResults {
		for _, r := range file.AssertionResults {
			c := Case{Name: r.FullName, Status: Status(r.Status), Output: strings.Join(r.FailureMessages, "\n")}
			if c.Status != Passed && c.Status != Failed {
				c.Status = Skipped
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

var automakeLine = regexp.MustCompile(`^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S+)`)

// ParseAutomake parses what `make check` prints about the tests of Automake.
func ParseAutomake(output []byte) ([]Case, error) {
	var cases []Case
	for line := range strings.Lines(string(output)) {
		m := automakeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		c := Case{Name: m[2], Status: Failed, Output: tail(string(output), 60)}
		switch m[1] {
		case "PASS", "XFAIL":
			c = Case{Name: m[2], Status: Passed}
		case "SKIP":
			c = Case{Name: m[2], Status: Skipped}
		}
		cases = append(cases, c)
	}
	return cases, nil
}
