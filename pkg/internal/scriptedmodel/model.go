// Package scriptedmodel is a language model that says what it was told to: a small HTTP server on loopback
// that lets a test drive a real agent program without an account and without the internet.
//
//	model := scriptedmodel.Start(t, scriptedmodel.Run("git status"), scriptedmodel.Say("done"))
//	… run the agent with its model end point at model.URL() …
//	model.ToolOutputs() // what the agent told the model about each command
//
// Contract: turn n of the script answers the n-th request for a response; a request past the end of the script
// is answered with 500 and fails the test. Every request body is kept.
//
// Limits: it speaks the one streaming protocol that the tests need, the Responses API of OpenAI as server-sent
// events, as Codex CLI 0.169.0 reads it. It checks nothing of what the agent sends but that it is JSON.
package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Turn is one answer of the model: a call of the agent's shell tool, or a final message.
type Turn struct {
	command string
	say     string
}

// Run is a turn that asks the agent to run a shell command.
func Run(command string) Turn { return Turn{command: command} }

// Say is a turn that ends the conversation with a message.
func Say(message string) Turn { return Turn{say: message} }

// Model is a running server. It stops with the test that started it.
type Model struct {
	t      testing.TB
	server *httptest.Server
	turns  []Turn

	mu       sync.Mutex
	requests [][]byte
}

// Start serves the script on a free port of 127.0.0.1 until t ends.
func Start(t testing.TB, turns ...Turn) *Model {
	t.Helper()
	m := &Model{t: t, turns: turns}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.server.Close)
	return m
}

// URL is the base address for the agent's configuration, with the /v1 that such addresses end in.
func (m *Model) URL() string { return m.server.URL + "/v1" }

// Asked is how many turns the agent has asked for.
func (m *Model) Asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r) // agents also look for model lists and telemetry
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(body) {
		m.t.Errorf("scripted model: request is not JSON: %v: %.200q", err, body)
	}
	n, turn, ok := m.next(body)
	if !ok {
		m.t.Errorf("scripted model: request %d, but the script has %d turns", n, len(m.turns))
		http.Error(w, "the script has ended", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range turn.events(n) {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event.name, event.data)
	}
}

// next records a request and returns its number, from 1, and its turn.
func (m *Model) next(body []byte) (int, Turn, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, body)
	n := len(m.requests)
	if n > len(m.turns) {
		return n, Turn{}, false
	}
	return n, m.turns[n-1], true
}

// ToolOutputs is what the agent reported to the model for each command, in order, as of its last request.
func (m *Model) ToolOutputs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return nil
	}
	var request struct {
		Input []struct {
			Type   string          `json:"type"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if err := json.Unmarshal(m.requests[len(m.requests)-1], &request); err != nil {
		m.t.Errorf("scripted model: decode request: %v", err)
	}
	var outputs []string
	for _, item := range request.Input {
		if item.Type == "function_call_output" {
			outputs = append(outputs, text(item.Output))
		}
	}
	return outputs
}

// text is a JSON string's value, or the JSON itself when the output is structured.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
