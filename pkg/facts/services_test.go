package facts

import (
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestScratchDatabase: a table in a temporary database is worth nothing, unless the name leads to
// another file, or the file is part of the work space.
func TestScratchDatabase(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	root, other := repository(t, "w/app.db"), grow(t, "t.db", "link.db -> ROOT/t.db")
	d := deriver(t, Options{})
	for script, want := range map[string]bool{
		"sqlite3 OTHER/t.db 'drop table x'":                               false,
		"sqlite3 OTHER/new.db 'drop table x'":                             false,
		"sqlite3 OTHER/link.db 'drop table x'":                            true,
		"sqlite3 ROOT/w/app.db 'drop table x'":                            true,
		"sqlite3 ROOT/x.db 'drop table x'":                                true,
		"sqlite3 app.db 'drop table x'":                                   true,
		"ln -s $PWD/app.db OTHER/n.db; sqlite3 OTHER/n.db 'drop table x'": true,
		"mv app.db OTHER/n.db; sqlite3 OTHER/n.db 'drop table x'":         true,
	} {
		script = strings.NewReplacer("OTHER", other, "ROOT", root).Replace(script)
		_, f := derive(t, d, shellAction(root+"/w", script), record.Actor{Mode: record.ModeSafe})
		if got := len(f.Services) > 0; got != want {
			t.Errorf("%s: %+v", script, f.Services)
		}
	}
}

func TestShownSecrets(t *testing.T) {
	_, f := derive(t, deriver(t, Options{}), shellAction(repository(t)+"/w", `X=$A_TOKEN; echo "$X" | rev`), record.Actor{Mode: record.ModeSafe})
	if len(f.Services) != 1 || f.Services[0].System != "environment" || f.Services[0].Effect != "reveal" || f.Services[0].Operation != "echo" || f.Services[0].Target != "A_TOKEN" {
		t.Errorf("%+v", f.Services)
	}
}
