//go:build agents

package e2e

import (
	"fmt"

	"ethos/pkg/internal/scriptedmodel"
)

// openCodeProvider is merged into the recipe's configuration.
const openCodeProvider = `{
  "provider": {"scripted": {
    "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": %q, "apiKey": "none"},
    "models": {"scripted": {"name": "scripted", "tool_call": true}}
  }},
  "model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": false, "share": "disabled"
}`

func openCodeAgent() agent {
	return agent{
		name: "opencode",
		recipe: map[string]string{
			"opencode/opencode.json":   "opencode.json",
			"opencode/plugin/ethos.js": ".opencode/plugin/ethos.js",
		},
		setUp: func(s *session, model *scriptedmodel.Model) string {
			s.merge("opencode.json", fmt.Sprintf(openCodeProvider, model.URL()+"/v1"))
			s.env = append(s.env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
				`OPENCODE_PERMISSION={"external_directory":"allow"}`, // only ethos stands in the way
				"npm_config_fetch_retries=0")                         // it tries to fetch the types of its plug-in interface
			return `"$AGENT" run --print-logs "go on" </dev/null`
		},
		broken: []damage{{name: "plug-in does not load", apply: func(s *session) { s.write(".opencode/plugin/ethos.js", "export const Ethos = (") }}},
	}
}
