//go:build !nomodel

package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// manual renders the manual page of a program from its command model, with the man(7) macros.
func manual(p Program, app *kong.Application) string {
	m := &roff{}
	m.line(".TH", strings.ToUpper(p.Name), "1", "", "ethos", "ethos manual")
	m.section("NAME")
	m.text(p.Name + " \\- " + escape(p.Summary))
	m.section("SYNOPSIS")
	for _, leaf := range leaves(app.Node) {
		m.line(".B", p.called())
		m.text(escape(strings.TrimSpace(strings.TrimPrefix(leaf.Summary(), p.called()))))
		m.raw(".br\n")
	}
	m.section("DESCRIPTION")
	m.paragraphs(p.Description)
	m.section("OPTIONS")
	m.flags(app.Flags)
	if len(app.Children) > 0 {
		m.section("COMMANDS")
		for _, child := range app.Children {
			m.command(child)
		}
	}
	m.exits(p)
	if len(p.Examples) > 0 {
		m.section("EXAMPLES")
		for _, e := range p.Examples {
			m.item(".B "+quote(e.Command), e.Text)
		}
	}
	m.section("SEE ALSO")
	m.text(seeAlso(p.Name))
	return m.String()
}

// leaves lists the commands that can be run, in the order of the model.
func leaves(n *kong.Node) (out []*kong.Node) {
	if n.Leaf() || n.DefaultCmd != nil && n.Parent == nil && len(n.Positional) > 0 {
		out = append(out, n)
	}
	for _, child := range n.Children {
		if !child.Hidden {
			out = append(out, leaves(child)...)
		}
	}
	return out
}

func seeAlso(self string) string {
	var others []string
	for _, name := range []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-trace", "ethos-git"} {
		if name != self {
			others = append(others, "\\fB"+strings.ReplaceAll(name, "-", "\\-")+"\\fR(1)")
		}
	}
	return strings.Join(others, ", ")
}

// roff builds a page. It escapes all text that it is given unescaped.
type roff struct{ strings.Builder }

func (m *roff) raw(s string) { m.WriteString(s) }

func (m *roff) line(macro string, args ...string) {
	m.raw(macro)
	for _, a := range args {
		m.raw(" " + quote(a))
	}
	m.raw("\n")
}

func (m *roff) section(title string) { m.line(".SH", title) }

// text writes one escaped line; a leading dot would start a macro.
func (m *roff) text(s string) {
	if s == "" {
		return
	}
	if s[0] == '.' || s[0] == '\'' {
		s = `\&` + s
	}
	m.raw(s + "\n")
}

func (m *roff) paragraphs(s string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			m.raw(".PP\n")
		}
		m.text(escape(strings.Join(strings.Fields(paragraph), " ")))
	}
}

func (m *roff) item(head, body string) {
	m.raw(".TP\n" + head + "\n")
	m.text(escape(body))
}

func (m *roff) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if !f.Hidden {
			m.item(flagHead(f), f.Help)
		}
	}
}

func flagHead(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Tag != nil && f.Tag.Negatable != "" {
		name = "--[no-]" + f.Name
	}
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	head := `\fB` + escape(name) + `\fR`
	if !f.IsBool() && !f.IsCounter() {
		head += `=\fI` + escape(f.FormatPlaceHolder()) + `\fR`
	}
	return head
}

func (m *roff) command(n *kong.Node) {
	if n.Hidden {
		return
	}
	m.line(".SS", strings.TrimSpace(n.FullPath()))
	m.paragraphs(n.Help)
	if n.Detail != "" {
		m.raw(".PP\n")
		m.paragraphs(n.Detail)
	}
	for _, p := range n.Positional {
		m.item(`\fI`+escape(p.Summary())+`\fR`, p.Help)
	}
	m.flags(n.Flags)
	for _, child := range n.Children {
		m.command(child)
	}
}

// exits writes the exit table, with both columns if the program has commands of both kinds.
func (m *roff) exits(p Program) {
	m.section("EXIT STATUS")
	runner := p.Kind == Runner || p.Name == "ethos-sandbox"
	for _, row := range ExitTable() {
		var meanings []string
		if p.Kind == Filter && row.Filter != "" {
			meanings = append(meanings, row.Filter)
		}
		if runner && row.Runner != "" {
			text := row.Runner
			if p.Kind == Filter {
				text = "run and shell: " + text
			}
			meanings = append(meanings, text)
		}
		if len(meanings) > 0 {
			m.item(".B "+quote(row.Status), strings.Join(meanings, "; "))
		}
	}
}

// escape makes text safe for troff: backslashes and hyphens.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
}

func quote(s string) string {
	return `"` + strings.ReplaceAll(escape(s), `"`, `""`) + `"`
}
