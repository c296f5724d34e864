package setup

import (
	_ "embed"
	"strings"
)

//go:embed opencode.js
var openCodeText string

// openCodePlugin returns the plug-in, which contains the pipe as a JavaScript string.
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
