package scriptedmodel

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func ask(t *testing.T, m *Model, path, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(m.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// TestScriptIsPlayedInOrder holds for each protocol: a call of the shell tool, what the agent says of it, a last word.
func TestScriptIsPlayedInOrder(t *testing.T) {
	for name, c := range map[string]struct{ path, called, reports, says string }{
		"responses": {"/v1/responses", `{\"cmd\":\"ls -l\"}`,
			`{"tools":[{}],"input":[{"type":"function_call_output","output":"total 0"},{"type":"message"}]}`, `"text":"bye"`},
		"gemini": {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"args":{"command":"ls -l"},"name":"run_shell_command"}`,
			`{"tools":[{}],"contents":[{"parts":[{"text":"x"},{"functionResponse":{"response":{"output":"total 0"}}}]}]}`, `"text":"bye"`},
		"chat": {"/v1/chat/completions", `{\"command\":\"ls -l\",\"description\":\"as told\"}`,
			`{"tools":[{}],"messages":[{"role":"user","content":[]},{"role":"tool","content":"total 0"}]}`, `"content":"bye"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := Start(t, Run("ls -l"), Say("bye"))
			if _, got := ask(t, m, c.path, `{"tools":[{}]}`); !strings.Contains(got, c.called) {
				t.Errorf("first turn: %s", got)
			}
			if _, got := ask(t, m, c.path, `{"tools":[]}`); !strings.Contains(got, "errand") {
				t.Errorf("a request without tools: %s", got)
			}
			if _, got := ask(t, m, c.path, c.reports); !strings.Contains(got, c.says) {
				t.Errorf("second turn: %s", got)
			}
			if got := m.ToolOutputs(); !slices.Equal(got, []string{"total 0"}) {
				t.Errorf("ToolOutputs() = %q", got)
			}
			if m.Asked() != 2 {
				t.Errorf("Asked() = %d", m.Asked())
			}
		})
	}
}

// TestAnyToolIsCalled: a turn names another tool and its input, in each
// protocol.
func TestAnyToolIsCalled(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/responses":                          `"arguments":"{\"chars\":\"ls\\n\"}","call_id":"call_1","name":"write_stdin"`,
		"/v1beta/models/m:streamGenerateContent": `{"args":{"chars":"ls\n"},"name":"write_stdin"}`,
		"/v1/chat/completions":                   `{"arguments":"{\"chars\":\"ls\\n\"}","name":"write_stdin"}`,
	} {
		m := Start(t, Call("write_stdin", map[string]any{"chars": "ls\n"}))
		if _, got := ask(t, m, path, `{"tools":[{}]}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestTurnsAnswerOutputs(t *testing.T) {
	m := Start(t, Then(func(outputs []string) Turn { return Run("echo " + outputs[0]) }))
	_, got := ask(t, m, "/v1/responses", `{"tools":[{}],"input":[{"type":"function_call_output","output":"seven"}]}`)
	if !strings.Contains(got, "echo seven") {
		t.Errorf("%s", got)
	}
}

func TestErrorsAreOutputsToo(t *testing.T) {
	got, err := geminiOutputs([]byte(`{"contents":[{"parts":[{"functionResponse":{"response":{"error":"no"}}},{"functionResponse":{"response":{"x":1}}}]}]}`))
	if err != nil || !slices.Equal(got, []string{"no", `{"x":1}`}) {
		t.Errorf("%q %v", got, err)
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	m := Start(t)
	if status, _ := ask(t, m, "/v1/models", "{}"); status != http.StatusNotFound {
		t.Errorf("POST /v1/models: status %d", status)
	}
}

// deaf records the errors that a model reports to the test it belongs to.
type deaf struct {
	testing.TB
	errors int
}

func (d *deaf) Errorf(string, ...any) { d.errors++ }

func TestPastTheEndIsAnError(t *testing.T) {
	d := &deaf{TB: t}
	m := Start(d, Say("only this"))
	ask(t, m, "/v1/responses", `{"tools":[{}]}`)
	if status, _ := ask(t, m, "/v1/responses", `{"tools":[{}]}`); status != http.StatusInternalServerError || d.errors != 1 {
		t.Errorf("status %d, %d errors reported", status, d.errors)
	}
}
