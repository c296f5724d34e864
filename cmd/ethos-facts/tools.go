package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

type toolsCmd struct {
	JSON   bool   `help:"One JSON object a line."`
	Config string `placeholder:"FILE" help:"Repository configuration whose tools are listed too. Default: repo_config.yaml in the current directory, if there is one."`
}

// toolLine is one tool in JSON form.
type toolLine struct {
	record.Tool
	ConfigFiles []string `json:"config_files"`
	Forms       []string `json:"forms"`
}

func (c *toolsCmd) Run(sys *cli.System) error {
	config, err := c.config(sys)
	if err != nil {
		return err
	}
	to := sys.Stdout
	if c.JSON {
		to = sys.Records()
	}
	out := bufio.NewWriter(to)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, t := range catalog.New(config).Tools() {
		line := toolLine{Tool: catalog.Fact(t, t.Forms[0]), ConfigFiles: append([]string{}, t.ConfigFiles...), Forms: forms(t)}
		if !c.JSON {
			out.WriteString(printable.Sprintf("%-22s %-14s %-14s %s\n", t.ID, t.Category, effectiveProfile(t), strings.Join(line.Forms, ", ")))
		} else if err := e.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (c *toolsCmd) config(sys *cli.System) (catalog.Config, error) {
	name, named := c.Config, c.Config != ""
	if !named {
		name = capability.ConfigName
	}
	read := os.ReadFile // a named file may be a pipe
	if !named {
		read = func(name string) ([]byte, error) { return facts.ReadConfig(facts.OS{}, name) }
	}
	text, err := read(absolute(sys, name))
	switch {
	case err == nil:
	case !named && os.IsNotExist(err):
		return catalog.Config{}, nil
	case !named:
		fault := facts.Unreadable(name, err)
		return catalog.Config{}, cli.Errorf(cli.BadInput, fault.Hint, "%w", fault)
	default:
		return catalog.Config{}, cli.Errorf(cli.Usage, "name a file that exists", "--config: %w", err)
	}
	config, err := catalog.ParseConfig(name, text)
	if err != nil {
		fault, hint := (*catalog.ConfigError)(nil), ""
		if errors.As(err, &fault) {
			hint = fault.Hint
		}
		return config, cli.Errorf(cli.BadInput, hint, "%w", err)
	}
	return config, nil
}

// effectiveProfile returns the profile that a tool runs under. A tool that is only recognised has
// none of its own.
func effectiveProfile(t catalog.Tool) string {
	if !t.Managed {
		return "(" + t.Capabilities.Network.Mode + ")"
	}
	return t.Capabilities.SandboxProfile
}

// forms returns the command lines that stand for a tool, as written in the catalog.
func forms(t catalog.Tool) []string {
	out := []string{}
	for _, f := range t.Forms {
		out = append(out, form(f))
	}
	return out
}

func form(f shipped.Form) string {
	words := []string{f.Program}
	for _, o := range f.Operands {
		words = append(words, strings.Join(o, "|"))
	}
	for _, flag := range f.With {
		words = append(words, flagText(flag))
	}
	for _, flag := range f.Without {
		words = append(words, "!"+flagText(flag))
	}
	for _, o := range f.Absent {
		words = append(words, "!"+o)
	}
	if f.Version != 0 {
		words = append(words, map[int8]string{1: "@", -1: "!@"}[f.Version])
	}
	if f.End {
		words = append(words, "$")
	}
	return strings.Join(words, " ")
}

func flagText(f shipped.Flag) string {
	name := f.Name
	if !strings.HasPrefix(name, "-") {
		name = "--" + name
	}
	if f.Value != "" {
		return name + "=" + f.Value
	}
	return name
}
