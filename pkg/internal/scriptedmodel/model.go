// Package scriptedmodel is a language model that follows a script: a small HTTP server on loopback
// with which a test drives a real agent program without an account and without the internet.
//
//	model := scriptedmodel.Start(t, scriptedmodel.Run("git status"), scriptedmodel.Say("done"))
//	… run the agent with its model end point at model.URL() …
//	model.ToolOutputs() // what the agent told the model about each command
//
// Contract: turn n of the script answers the n-th request that offers tools. A request past the end
// of the script is answered with 500 and fails the test. A request that offers no tools is an
// auxiliary one, such as for a title of the conversation: it gets a one-word answer and is not
// counted. Every counted request body is kept.
//
// Limits: it implements the three streaming protocols that the tests need, as far as their agents
// read them: the Responses API (Codex CLI), the Gemini API (Gemini CLI) and chat completions
// (OpenCode). It checks only that the agent's requests are JSON.
package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Turn is one answer of the model: a call of one of the agent's tools, or a final message.
type Turn struct {
	command string
	tool    string // "" is the agent's shell tool
	input   any    // of tool: encodes to an object
	say     string
	then    func(outputs []string) Turn // returns the turn for what the agent reported
}

// Run returns a turn that asks the agent to run a shell command.
func Run(command string) Turn { return Turn{command: command} }

// Call returns a turn that asks the agent to call one of its tools, by the agent's own name for it
// and with an input that encodes to a JSON object.
func Call(tool string, input any) Turn { return Turn{tool: tool, input: input} }

// Then returns a turn that depends on what the agent has reported about each tool call so far, in
// order.
func Then(turn func(outputs []string) Turn) Turn { return Turn{then: turn} }

// calls returns the tool call of a turn. shell is the name of the agent's shell tool and key that
// of its command line; rest are other members of its input.
func (t Turn) calls(shell, key string, rest map[string]any) (tool string, input any, ok bool) {
	switch {
	case t.tool != "":
		return t.tool, t.input, true
	case t.command == "":
		return "", nil, false
	}
	members := map[string]any{key: t.command}
	for name, value := range rest {
		members[name] = value
	}
	return shell, members, true
}

// Say returns a turn that ends the conversation with a message.
func Say(message string) Turn { return Turn{say: message} }

// Model is a running server. It stops with the test that started it.
type Model struct {
	t      testing.TB
	server *httptest.Server
	turns  []Turn

	mu       sync.Mutex
	requests [][]byte
	spoken   protocol // of the last counted request
}

// Start serves the script on a free port of 127.0.0.1 until t ends.
func Start(t testing.TB, turns ...Turn) *Model {
	t.Helper()
	m := &Model{t: t, turns: turns}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.server.Close)
	return m
}

// URL returns the root of the server. The Responses API and chat completions are below /v1, the
// Gemini API is below /v1beta.
func (m *Model) URL() string { return m.server.URL }

// Asked returns the number of turns that the agent has requested.
func (m *Model) Asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	p, ok := protocolOf(r.URL.Path)
	if r.Method != http.MethodPost || !ok {
		http.NotFound(w, r) // agents also look for model lists and telemetry
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !json.Valid(body) {
		m.t.Errorf("scripted model: request is not JSON: %v: %.200q", err, body)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if !offersTools(body) {
		w.Write(p.stream(0, Say("errand")))
		return
	}
	n, turn, ok := m.next(p, body)
	if !ok {
		m.t.Errorf("scripted model: request %d, but the script has %d turns", n, len(m.turns))
		http.Error(w, "the script has ended", http.StatusInternalServerError)
		return
	}
	w.Write(p.stream(n, turn))
}

// next records a request and returns its number, from 1, and its turn.
func (m *Model) next(p protocol, body []byte) (int, Turn, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests, m.spoken = append(m.requests, body), p
	n := len(m.requests)
	if n > len(m.turns) {
		return n, Turn{}, false
	}
	turn := m.turns[n-1]
	if turn.then != nil {
		outputs, err := p.outputs(body)
		if err != nil {
			m.t.Errorf("scripted model: decode request: %v", err)
		}
		turn = turn.then(outputs)
	}
	return n, turn, true
}

// Heard reports whether the last request contains a text anywhere: the protocols have no fixed
// place for context that a hook adds.
func (m *Model) Heard(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests) > 0 && bytes.Contains(m.requests[len(m.requests)-1], bytes.Trim(encode(text), `"`))
}

// ToolOutputs returns what the agent reported to the model about each command, in order, as of its
// last request.
func (m *Model) ToolOutputs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return nil
	}
	outputs, err := m.spoken.outputs(m.requests[len(m.requests)-1])
	if err != nil {
		m.t.Errorf("scripted model: decode request: %v", err)
	}
	return outputs
}
