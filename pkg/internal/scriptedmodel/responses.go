package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// responses is the Responses API of OpenAI; the fields are those that Codex CLI 0.169.0 requires.
func responses() protocol {
	return protocol{is: ending("/responses"), stream: responsesStream, outputs: responsesOutputs}
}

// responsesStream is created, one finished output item, completed.
func responsesStream(n int, t Turn) []byte {
	id := fmt.Sprintf("resp_%d", n)
	return bytes.Join([][]byte{
		typed("response.created", map[string]any{"response": map[string]any{"id": id}}),
		typed("response.output_item.done", map[string]any{"item": responsesItem(n, t)}),
		typed("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": usage()}}),
	}, nil)
}

func typed(name string, fields map[string]any) []byte {
	fields["type"] = name
	return event(name, fields)
}

func responsesItem(n int, t Turn) map[string]any {
	tool, input, ok := t.calls("exec_command", "cmd", nil)
	if !ok {
		return map[string]any{
			"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", n),
			"content": []any{map[string]any{"type": "output_text", "text": t.say}},
		}
	}
	return map[string]any{
		"type": "function_call", "call_id": fmt.Sprintf("call_%d", n),
		"name": tool, "arguments": string(encode(input)),
	}
}

func usage() map[string]any {
	return map[string]any{
		"input_tokens": 1, "input_tokens_details": nil,
		"output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
	}
}

func responsesOutputs(body []byte) ([]string, error) {
	var request struct {
		Input []struct {
			Type   string          `json:"type"`
			Output json.RawMessage `json:"output"`
		} `json:"input"`
	}
	err := json.Unmarshal(body, &request)
	var outputs []string
	for _, item := range request.Input {
		if item.Type == "function_call_output" {
			outputs = append(outputs, text(item.Output))
		}
	}
	return outputs, err
}
