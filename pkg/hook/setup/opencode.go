package setup

import (
	_ "embed"
	"strings"
)

//go:embed opencode.js
var openCodeText string

// openCodePlugin is the plug-in with the pipe in it, as a JavaScript string.
func openCodePlugin(o Options) ([]byte, error) {
	command, err := compact(o.ask("opencode"))
	if err != nil {
		return nil, err
	}
	after := []byte(`""`)
	if o.Confine != "no" {
		after, err = compact(o.after("opencode"))
	}
	return []byte(strings.NewReplacer(`"ETHOS"`, string(command), `"ETHOS-AFTER"`, string(after)).Replace(openCodeText)), err
}
