//go:build !nocel

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/trust"
)

// ask shows a file to the person at the terminal and reads the answer.
func (t *truster) ask(f candidate, last trust.Entry) (bool, error) {
	terminal, err := terminalOf(t.sys)
	if err != nil {
		return false, cli.Errorf(cli.Usage, "a person must run it in a terminal; for provisioning: --digest "+f.digest+", or --yes",
			"%s is not trusted: there is no terminal to ask on (%w)", f.path, err)
	}
	defer terminal.Close()
	return answered(terminal, t.page(f, last)+"Trust this content at this path? [y/N] ")
}

// answered asks a question and reads the answer; an empty answer means no.
func answered(terminal io.ReadWriter, question string) (bool, error) {
	if _, err := io.WriteString(terminal, question); err != nil {
		return false, err
	}
	answer, err := bufio.NewReader(terminal).ReadString('\n')
	if err != nil {
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// terminalOf returns where a person answers: the controlling terminal, else
// standard input if that is a terminal.
func terminalOf(sys *cli.System) (io.ReadWriteCloser, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err == nil {
		return tty, cli.DiscardTyped(tty)
	}
	if in, ok := sys.Stdin.(*os.File); ok && cli.IsTerminal(in) {
		if err := cli.DiscardTyped(in); err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Writer
			io.Closer
		}{in, sys.Stderr, io.NopCloser(nil)}, nil
	}
	return nil, err
}

// page shows, line by line, what a file widens compared to its last trusted
// version: "+" is new, "-" is removed. Nothing in it can control the terminal.
func (t *truster) page(f candidate, last trust.Entry) string {
	var b strings.Builder
	b.WriteString(printable.Sprintf("%s\n%s\n", f.path, f.digest))
	if f.kind == trust.Script {
		b.WriteString(scriptPage(f, last))
		return b.String()
	}
	var before []string
	switch {
	case last.Digest == "":
		b.WriteString("It was not trusted before. It widens what commands may do here:\n")
	default:
		before, _, _ = t.widens(f.path, last.Text, nil) // what is no longer valid widened nothing known
		fmt.Fprintf(&b, "It has changed since it was trusted on %s. It widens what commands may do here:\n", last.Time.Format(time.DateOnly))
	}
	for _, w := range f.widens {
		mark := "+"
		if slices.Contains(before, w) {
			mark = " "
		}
		b.WriteString(printable.Sprintf("  %s %s\n", mark, w))
	}
	for _, w := range before {
		if !slices.Contains(f.widens, w) {
			b.WriteString(printable.Sprintf("  - %s\n", w))
		}
	}
	return b.String()
}

// maxShown limits the lines of a script that are shown.
const maxShown = 60

func scriptPage(f candidate, last trust.Entry) string {
	var b strings.Builder
	if last.Digest != "" {
		fmt.Fprintf(&b, "It has changed since somebody looked at it on %s.\n", last.Time.Format(time.DateOnly))
	}
	for _, w := range f.widens {
		b.WriteString(printable.Sprintf("%s\n", w))
	}
	lines := strings.Split(strings.TrimSuffix(string(f.text), "\n"), "\n")
	for _, line := range lines[:min(maxShown, len(lines))] {
		b.WriteString(printable.Sprintf("  | %s\n", line))
	}
	if more := len(lines) - maxShown; more > 0 {
		b.WriteString(printable.Sprintf("  … and %d more lines: read them in %s\n", more, f.path))
	}
	return b.String()
}
