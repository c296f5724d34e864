package scriptedmodel

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

func ask(t *testing.T, m *Model, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(m.URL()+"/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(bufio.NewReader(resp.Body))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestScriptIsPlayedInOrder(t *testing.T) {
	m := Start(t, Run("ls -l"), Say("bye"))
	if _, got := ask(t, m, `{"input":[]}`); !strings.Contains(got, `\"cmd\":\"ls -l\"`) {
		t.Errorf("first turn: %s", got)
	}
	_, got := ask(t, m, `{"input":[{"type":"function_call_output","output":"total 0"},{"type":"message"}]}`)
	if !strings.Contains(got, `"text":"bye"`) || !strings.Contains(got, "event: response.completed\n") {
		t.Errorf("second turn: %s", got)
	}
	if got := m.ToolOutputs(); len(got) != 1 || got[0] != "total 0" {
		t.Errorf("ToolOutputs() = %q", got)
	}
	if m.Asked() != 2 {
		t.Errorf("Asked() = %d", m.Asked())
	}
}

func TestOtherPathsAreNotFound(t *testing.T) {
	m := Start(t)
	resp, err := http.Get(m.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("GET /models: status %d", resp.StatusCode)
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
	ask(t, m, `{}`)
	if status, _ := ask(t, m, `{}`); status != http.StatusInternalServerError || d.errors != 1 {
		t.Errorf("status %d, %d errors reported", status, d.errors)
	}
}
