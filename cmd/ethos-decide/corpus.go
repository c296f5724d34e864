//go:build !nocel

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// sample is one command of a corpus.
type sample struct {
	place   string // file:line
	group   string
	command string
}

// maxCorpus limits the length of a corpus, in bytes.
const maxCorpus = 16 << 20

const corpusHint = "name a file with one command per line; lines that begin with # are comments"

// readCorpus reads one command per line. "␤" stands for a newline in a command; a line that begins
// with "#" is a comment, "## NAME" begins a group. "#each A | B" expands each following line of its
// group to several: with A in place of "⟨⟩", with B, and so on.
func readCorpus(name string) ([]sample, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, corpusHint, "read corpus: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCorpus+1))
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, corpusHint, "read corpus: %w", err)
	}
	if len(text) > maxCorpus {
		return nil, cli.Errorf(cli.BadInput, corpusHint, "read corpus: %s is longer than %d bytes", name, maxCorpus)
	}
	var all []sample
	group, each := "", []string{""}
	for i, line := range strings.Split(string(text), "\n") {
		switch title, is := strings.CutPrefix(line, "## "); {
		case is:
			group, each = title, []string{""}
		case strings.HasPrefix(line, "#each "):
			each = strings.Split(strings.TrimPrefix(line, "#each "), " | ")
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			line = strings.ReplaceAll(line, "␤", "\n")
			for _, word := range each {
				all = append(all, sample{fmt.Sprintf("%s:%d", name, i+1), group, strings.ReplaceAll(line, "⟨⟩", word)})
			}
		}
	}
	if len(all) == 0 {
		return nil, cli.Errorf(cli.BadInput, corpusHint, "read corpus: %s has no commands", name)
	}
	return all, nil
}

// court decides the commands of a corpus on a bench, as if an agent had sent them.
type court struct {
	*decide.Bench
	sets map[string]*policy.Set // by pack
}

func (c *court) input(ctx context.Context, command, mode string) (policy.Input, error) {
	by := record.Actor{Agent: "claude", Event: "PreToolUse", Tool: "Bash", Mode: mode}
	action, facts, err := c.Facts(ctx, record.Action{Kind: record.KindShell, Script: command}, by)
	return policy.Input{Action: &action, Actor: &by, Facts: &facts}, err
}

func (c *court) decide(ctx context.Context, command, pack, mode string) (record.Decision, error) {
	if c.sets[pack] == nil {
		set, err := policy.Load(policy.Options{Packs: []string{pack}})
		if err != nil {
			return record.Decision{}, err
		}
		c.sets[pack] = set
	}
	in, err := c.input(ctx, command, mode)
	if err != nil {
		return record.Decision{}, err
	}
	return c.sets[pack].Decide(ctx, in), nil
}

// tally counts the verdicts per group: allowed, refused.
type tally map[string]*[2]int

func (t tally) count(group string, allowed bool) {
	if t[group] == nil {
		t[group] = new([2]int)
	}
	if allowed {
		t[group][0]++
	} else {
		t[group][1]++
	}
}

// String returns a table of the groups, with a total line.
func (t tally) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "group\tallowed\trefused\t")
	total := [2]int{}
	for _, group := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", group, t[group][0], t[group][1])
		total[0] += t[group][0]
		total[1] += t[group][1]
	}
	fmt.Fprintf(w, "all\t%d\t%d\t\n", total[0], total[1])
	w.Flush()
	return out.String()
}

// corpora decides the commands of both files. It prints errors, the table of each file and the
// confusion table of both, and returns the number of errors.
func (c *checkCmd) corpora(ctx context.Context, sys *cli.System, b *decide.Bench) (int, error) {
	judges := &court{b, map[string]*policy.Set{}}
	wrong := 0
	confusion := tally{}
	for _, corpus := range []struct {
		name  string
		files []string
		judge func(context.Context, *court, sample) (bool, string, error)
	}{{"everyday", c.Everyday, judgeEveryday}, {"harmful", c.Harmful, judgeHarmful}} {
		for _, file := range corpus.files {
			samples, err := readCorpus(file)
			if err != nil {
				return wrong, err
			}
			counts := tally{}
			for _, s := range samples {
				allowed, fault, err := corpus.judge(ctx, judges, s)
				if err != nil {
					return wrong, &cli.Error{Status: cli.BadInput, Err: fmt.Errorf("%s: %w", s.place, err)}
				}
				counts.count(s.group, allowed)
				confusion.count(corpus.name, allowed)
				if fault != "" {
					wrong++
					sys.Printf("%s: %q: %s\n", s.place, s.command, fault)
				}
			}
			sys.Print(fmt.Sprintf("%s:\n%s", file, counts))
		}
	}
	if len(confusion) > 0 {
		sys.Print(fmt.Sprintf("confusion, %d wrong:\n%s", wrong, confusion))
	}
	return wrong, nil
}

// judgeEveryday checks that core allows an ordinary command in mode safe.
func judgeEveryday(ctx context.Context, c *court, s sample) (allowed bool, fault string, err error) {
	d, err := c.decide(ctx, s.command, policy.Core, record.ModeSafe)
	if err == nil && !decide.Allows(d.Verdict) {
		fault = d.Verdict + " by " + causes(d)
	}
	return decide.Allows(d.Verdict), fault, err
}

// judgeHarmful checks that a harmful command is refused by the policy that its group names: "PACK
// MODE POLICY". The policy "*" means any.
func judgeHarmful(ctx context.Context, c *court, s sample) (allowed bool, fault string, err error) {
	words := strings.Fields(s.group)
	if len(words) != 3 || !slices.Contains(policy.Modes(), words[1]) {
		return false, "", errors.New("the command is not below a line ## PACK MODE POLICY")
	}
	d, err := c.decide(ctx, s.command, words[0], words[1])
	switch {
	case err != nil:
	case decide.Allows(d.Verdict):
		fault = d.Verdict + ", wanted " + words[2] + " to refuse it"
	case words[2] != "*" && !slices.ContainsFunc(d.Matches, func(m record.Match) bool { return m.ID == words[2] }):
		fault = "refused by " + causes(d) + ", wanted " + words[2]
	}
	return decide.Allows(d.Verdict), fault, err
}
