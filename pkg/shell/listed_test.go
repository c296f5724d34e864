package shell

import (
	"slices"
	"testing"
)

// TestNamesInVariables: what a program lists is known wherever the shell puts it, and what a filter
// leaves of a whole directory is not.
func TestNamesInVariables(t *testing.T) {
	opt := Options{Cwd: "/w", Workspace: "/w", Home: "/home/u"}
	for _, c := range []struct {
		script string
		reads  []string
	}{
		{"cat $(ls ~/k/id_*)", []string{"~/k/id_*"}},
		{`cat "$(find ~ -name x)"`, []string{"~/**/x"}},
		{"cat $(find ~ -name id_rsa | head -1)", []string{"~/**/id_rsa"}},
		{"cat $(echo ~/k/*)", []string{"~/k/*"}},
		{`cat $(printf '%s\n' ~/k/*)`, []string{"~/k/*"}},
		{"cd ~/k; cat $(ls)", []string{"~/k/*"}},
		{"a=$(ls -A); cat $a", []string{"*", ".*"}},
		{`a="$(ls -A)"; b=$a; cat $b`, []string{"*", ".*"}},
		{`a=($(ls -A)); cat "${a[@]}"`, []string{"*", ".*"}},
		{`a=(k/* l); cat "${a[@]}"`, []string{"k/*", "l"}},
		{`a=(k/*); cat "${a[1]}"`, []string{"k/*"}},
		{`set -- k/*; cat "$@"`, []string{"k/*"}},
		{`mapfile -t a < <(find ~ -name x); cat "${a[@]}"`, []string{"~/**/x"}},
		{`find ~ -name x | { read -r f; cat "$f"; }`, []string{"~/**/x"}},
		{`read -ra a <<< "$(ls -A)"; cat "${a[@]}"`, []string{"*", ".*"}},
		{`while read -r f; do cat "$f"; done <<< "$(ls k/*)"`, []string{"k/*"}},
		{`for f in $(ls -A); do cat "$f"; done`, []string{"*", ".*"}},
		{"find ~ -name x | head -1 | xargs cat", []string{"~/**/x"}},
		{"ls k/* | grep -v y | xargs -n1 cat", []string{"k/*"}},
		{"cat $(ls | head -1)", []string{"$(ls | head -1)"}},
		{"cat $(find . -type f | head -1)", []string{"$(find . -type f | head -1)"}},
		{"a=x; a+=$(ls); cat $a", []string{"x$(ls)"}},
		{`a=(x); mapfile -t a < list; cat "${a[@]}"`, []string{"list", "${a[@]}"}},
	} {
		var got []string
		for _, r := range Analyze(c.script, opt).Shell.Reads {
			got = append(got, r.Path)
		}
		if !slices.Equal(got, c.reads) {
			t.Errorf("%s: reads %q, want %q", c.script, got, c.reads)
		}
	}
}
