//go:build agents

package e2e

import (
	"fmt"

	"ethos/pkg/internal/scriptedmodel"
)

// codexProvider points Codex CLI at a scripted model; nobody is asked and its own sandbox is off, so that only the hook
// stands between the model and the machine.
const codexProvider = `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0

`

func codexAgent() agent {
	const config = "~/.codex/config.toml"
	return agent{
		name:   "codex",
		recipe: map[string]string{"codex/config.toml": config},
		setUp: func(s *session, model *scriptedmodel.Model) string {
			s.write(config, fmt.Sprintf(codexProvider, model.URL()+"/v1")+s.read(config))
			return `"$AGENT" exec ${TRUST---dangerously-bypass-hook-trust} --skip-git-repo-check --json "go on" </dev/null`
		},
		broken: []damage{
			{name: "settings are no TOML", apply: func(s *session) { s.write(config, s.read(config)+"[[[") }},
			{name: "hook not trusted", apply: func(s *session) { s.env = append(s.env, "TRUST=") }, runs: true},
		},
	}
}
