package e2e

import (
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// originSteps are what the test below has an agent do. agent runs a call as its hook answers it, verdict says what is decided of one.
const originSteps = `
event() { jq -cn --arg c "$1" --arg d "$PWD" '{session_id:"s",cwd:$d,hook_event_name:"PreToolUse",permission_mode:"default",tool_name:"Bash",tool_input:{command:$c}}'; }
verdict() { event "$1" | ethos-facts --from claude | { ethos-decide || true; } | jq -r '.decision | .verdict + " " + ([.matches[].id] | join(" "))'; }
agent() { local command; command=$(event "$1" | ethos-facts --from claude | ethos-decide --reply claude --confine "${@:2}" | jq -er .hookSpecificOutput.updatedInput.command) && bash -c "$command" >/dev/null; }
is() { sleep 0.03; local got; got=$(verdict "$2"); test "$got" = "$1" || { echo "$2: $got, not $1" >&2; exit 1; }; }
set -e
ask='ask code.from_network'
git init -q .
printf 'fetch:\n\techo date > x.sh; chmod +x x.sh\nmodule:\n\techo 1 > helper.py\nhook:\n\techo date > check.sh\nmanifest:\n\techo "{\\"scripts\\":{\\"test\\":\\"date\\"}}" > package.json\nrules:\n\tprintf "all:\\n\\tdate\\n" > other.mk\n' > Makefile
printf 'version: 1\nsandbox:\n  network_tools:\n    - {tool: make, mode: host}\n' > repo_config.yaml
mkdir .githooks; echo 'sh ./check.sh' > .githooks/pre-commit; chmod +x .githooks/pre-commit; git config core.hooksPath .githooks
echo 'import helper' > main.py; echo date > clean.sh
ethos-decide trust --yes >/dev/null
sleep 0.05
`

// TestOriginEndToEnd fetches with make, which a person has let into the network,
// and runs what came of it, through the real programs.
func TestOriginEndToEnd(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:jq", "command:make", "command:git")
	for name, script := range shorttest.SampleMap(map[string]string{
		"a script, and its review": `is 'allow ' 'bash x.sh'
			agent 'make fetch'
			is "$ask" 'bash x.sh'; is "$ask" './x.sh'; is "$ask" 'source x.sh'; is 'allow ' 'cat x.sh'; is 'allow ' 'bash clean.sh'; is 'allow ' 'make fetch'
			ethos-decide trust --yes x.sh >/dev/null; is 'allow ' 'bash x.sh'
			ethos-decide trust --revoke x.sh >/dev/null; is "$ask" 'bash x.sh'
			ethos-decide trust --yes x.sh >/dev/null; agent 'make fetch'; is 'allow ' 'bash x.sh'
			echo id >> x.sh; is 'allow ' 'bash x.sh'`,
		"a copy without the network": `agent 'make fetch'; sleep 0.03; agent 'mv x.sh a.sh'; is "$ask" 'bash a.sh'; agent 'cp a.sh b.sh'; is "$ask" 'bash b.sh'
			agent 'echo date > own.sh'; is 'allow ' 'bash own.sh'`,
		"a hook, an import, a script of npm, a makefile": `is 'allow ' 'git commit -m x'; agent 'make hook'; is "$ask" 'git commit -m x'; is 'allow ' 'git status'
			agent 'make module'; is "$ask" 'python3 main.py'; agent 'make manifest'; is "$ask" 'npm test'; agent 'make rules'; is "$ask" 'make -f other.mk'`,
		"the message says which run, and what a person does": `agent 'make fetch'; sleep 0.03; said=$(event 'bash x.sh' | ethos-facts --from claude | ethos-decide --reply claude --confine || true)
			id=$(grep -o 'written in [0-9a-f-]*' <<< "$said" | cut -d' ' -f3); ethos-trace show "$id" | grep -q 'make fetch'; grep -q 'ethos-decide trust x.sh' <<< "$said"`,
		"a hook that keeps no record": `agent 'make fetch' --no-store; is "$ask" 'bash x.sh'`,
		"the pipe":                    `event 'make fetch' | ethos-facts --from claude | ethos-decide | ethos-sandbox >/dev/null; is "$ask" 'bash x.sh'`,
		"a person's own run":          `ethos-sandbox run --net host -- make fetch >/dev/null; is 'allow ' 'bash x.sh'`,
		"a run without the network":   `printf 'version: 1\n' > repo_config.yaml; agent 'make fetch'; is 'allow ' 'bash x.sh'`,
		"a session": `ethos-sandbox session start --name reaching --net host >/dev/null; ethos-sandbox run --session reaching -- make fetch >/dev/null
			is "$ask" 'bash x.sh'; ethos-sandbox session end reaching; is "$ask" 'bash x.sh'; echo date > later.sh; is 'allow ' 'bash later.sh'`,
		"no confined command sees what is remembered": `agent 'make fetch'; ! ethos-sandbox run -- ls "$XDG_STATE_HOME/ethos/reached" 2>/dev/null; is "$ask" 'bash x.sh'`,
		"nothing is remembered":                       `agent 'make fetch'; rm -r "$XDG_STATE_HOME/ethos/reached"; is 'allow ' 'bash x.sh'; event 'bash x.sh' | ethos-facts --from claude | grep -q '"origin"' && exit 1; true`,
	}, 3) {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir())
			if o := s.shell(originSteps + strings.TrimSpace(script)); o.status != 0 {
				t.Error(o)
			}
		})
	}
}
