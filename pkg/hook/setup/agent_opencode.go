package setup

import (
	_ "embed"
	"strings"
)

func opencodeFiles() []file {
	return []file{
		{name: "plugin/ethos.js", example: "opencode/plugin/ethos.js", format: ownFormat{openCodePlugin}},
		{name: "opencode.json", example: "opencode/opencode.json", root: true, format: jsonFormat{settings: []setting{
			{path: []string{"$schema"}, value: "https://opencode.ai/config.json"}, {path: []string{"permission", "*"}, value: "deny", lift: true},
		}}},
	}
}

//go:embed opencode.js
var openCodeText string

// openCodeFormer is the plug-in of an earlier release.
//
//go:embed opencode_former.js
var openCodeFormer string

// openCodePlugin returns the plug-in, which contains the pipe as a JavaScript string.
func openCodePlugin(o Options) ([]byte, error) {
	command, err := compact(o.ask("opencode"))
	if err != nil {
		return nil, err
	}
	plugin := openCodeText
	if o.former {
		plugin = openCodeFormer
	}
	after := []byte(`""`)
	if o.Confine != "no" {
		after, err = compact(o.after("opencode"))
	}
	return []byte(strings.NewReplacer(`"ETHOS"`, string(command), `"ETHOS-AFTER"`, string(after)).Replace(plugin)), err
}
