package compat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Unit is a program that runs tests: a part of a suite.
type Unit struct {
	Name   string // prefix of its tests' names; may be ""
	Dir    string // its working directory and workspace
	Argv   []string
	Env    []string // NAME=VALUE, on both sides
	Flags  []string // of ethos-sandbox run
	Report string   // the file below Dir that it writes; "" is its standard output
	Parse  func([]byte) ([]Case, error)
	Limit  time.Duration // 0 means ten minutes
}

// Sides runs programs outside and inside.
type Sides struct {
	Sandbox string // the program ethos-sandbox
	Home    string // an empty home directory for both
	Path    string // PATH on both sides
}

// Compare runs u on both sides, one after the other, and repeats it if there
// are differences. Differences that do not recur are considered random.
func (s Sides) Compare(u Unit) (tests int, list []Difference, err error) {
	for again := range 2 {
		outside, err := s.run(u, nil)
		if err != nil {
			return 0, nil, fmt.Errorf("outside: %w", err)
		}
		inside, err := s.run(u, append([]string{s.Sandbox, "run", "--profile", "agent-shell"}, s.flags(u)...))
		if err != nil {
			return 0, nil, fmt.Errorf("inside: %w", err)
		}
		found := Differences(outside, inside)
		if again > 0 {
			found = Common(list, found)
		}
		if tests, list = len(outside), found; len(list) == 0 {
			break
		}
	}
	for i := range list {
		list[i].Name = strings.TrimSpace(u.Name + " " + list[i].Name)
	}
	return tests, list, nil
}

// flags returns u's own flags, and the variables that both sides have.
func (s Sides) flags(u Unit) []string {
	flags := u.Flags[:len(u.Flags):len(u.Flags)]
	for _, v := range u.Env {
		flags = append(flags, "--env", v)
	}
	return append(flags, "--")
}

// run starts u behind a prefix, and parses its report.
func (s Sides) run(u Unit, prefix []string) ([]Case, error) {
	limit := u.Limit
	if limit == 0 {
		limit = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	report := filepath.Join(u.Dir, u.Report)
	if u.Report != "" {
		if err := os.Remove(report); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	argv := append(prefix[:len(prefix):len(prefix)], u.Argv...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = u.Dir
	cmd.Env = append([]string{"PATH=" + s.Path, "HOME=" + s.Home, "LANG=C.UTF-8", "USER=" + os.Getenv("USER"), "SHELL=/bin/sh"}, u.Env...)
	cmd.WaitDelay = 5 * time.Second // a background process may keep its output open
	output, failed := cmd.CombinedOutput()
	if len(output) == 0 && failed != nil && u.Report == "" {
		return nil, fmt.Errorf("%s: %w", u.Name, failed)
	}
	if u.Report != "" {
		text, err := os.ReadFile(report)
		if err != nil {
			return nil, fmt.Errorf("%s wrote no report (%v): %w\n%s", u.Name, failed, err, tail(string(output), 40))
		}
		output = text
	}
	return u.Parse(output)
}
