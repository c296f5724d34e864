package facts

import (
	"path"
	"slices"
	"testing"

	"ethos/pkg/record"
)

// TestCredentialsBelow: what reads a whole directory reads the credentials that exist below it; what
// reads a part of it, or only looks at names, does not.
func TestCredentialsBelow(t *testing.T) {
	root := repository(t, "w/a", "home/.ssh/id_x", "home/.config/gh/hosts.yml", "home/.config/nvim/init.lua", "home/.docker/x")
	d := deriver(t, Options{Home: root + "/home"})
	for script, want := range map[string][]string{
		"cp -r ~/.config /tmp/x":                       {".config/gh"},
		"cp ~/.config /tmp/x":                          nil,
		"cp -r ~/.config/nvim /tmp/x":                  nil,
		"cp -r ~/.docker /tmp/x":                       nil, // its part with the secret does not exist
		"tar cf x.tar ~":                               {".config/gh", ".ssh"},
		"tar --no-recursion -cf x.tar ~":               nil,
		"rsync -a ~/ /tmp/x":                           {".config/gh", ".ssh"},
		"cd ~ && python3 -m http.server":               {".config/gh", ".ssh"},
		"python3 -m http.server":                       nil,
		"npx serve " + root:                            {".config/gh", ".ssh"},
		"find ~ -name x":                               nil,
		"ls -R ~":                                      nil,
		"ln -s ~ h; tar -cf x.tar h/":                  {".config/gh", ".ssh"},
		"ruby -run -e httpd " + root + "/home/.config": {".config/gh"},
	} {
		_, f := derive(t, d, shellAction(root+"/w", script), record.Actor{Mode: record.ModeSafe})
		var got []string
		for _, file := range f.Files {
			if file.Protected == classCredentials && file.Op == "read" {
				rel, _ := below(file.Resolved, path.Join(root, "home"))
				got = append(got, rel)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
