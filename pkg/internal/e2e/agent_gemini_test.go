//go:build agents

package e2e

import (
	"encoding/json"

	"ethos/pkg/internal/scriptedmodel"
)

// geminiSettings are merged into the recipe: the model's end point takes any key, and nobody is asked.
const geminiSettings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}`

func geminiAgent() agent {
	return agent{
		name:   "gemini",
		recipe: map[string]string{"gemini/settings.json": "~/.gemini/settings.json"},
		setUp: func(s *session, model *scriptedmodel.Model) string {
			s.merge("~/.gemini/settings.json", geminiSettings)
			s.env = append(s.env, "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+model.URL(), "GEMINI_CLI_TRUST_WORKSPACE=true")
			return `node "$AGENT" -m gemini-2.5-flash --approval-mode yolo -p "go on" </dev/null`
		},
		broken: []damage{{name: "settings are no JSON", apply: func(s *session) { s.write("~/.gemini/settings.json", "{") }}},
	}
}

// merge adds the members of an object to a JSON file of the session. A file that is not JSON stays as it is.
func (s *session) merge(name, object string) {
	s.t.Helper()
	var have, more map[string]any
	if json.Unmarshal([]byte(s.read(name)), &have) != nil {
		return
	}
	if err := json.Unmarshal([]byte(object), &more); err != nil {
		s.t.Fatal(err)
	}
	for key, value := range more {
		have[key] = value
	}
	text, err := json.MarshalIndent(have, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(name, string(text))
}
