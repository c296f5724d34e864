package scriptedmodel

import (
	"encoding/json"
	"fmt"
)

// event is one server-sent event.
type event struct {
	name string
	data []byte
}

// events is the stream that answers request n with the turn: created, one finished output item, completed.
// Source: the streaming events of the Responses API; the fields are those that Codex CLI 0.169.0 requires.
func (t Turn) events(n int) []event {
	id := fmt.Sprintf("resp_%d", n)
	return []event{
		encode("response.created", map[string]any{"response": map[string]any{"id": id}}),
		encode("response.output_item.done", map[string]any{"item": t.item(n)}),
		encode("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": usage()}}),
	}
}

func (t Turn) item(n int) map[string]any {
	if t.command == "" {
		return map[string]any{
			"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", n),
			"content": []any{map[string]any{"type": "output_text", "text": t.say}},
		}
	}
	arguments, _ := json.Marshal(map[string]string{"cmd": t.command})
	return map[string]any{
		"type": "function_call", "call_id": fmt.Sprintf("call_%d", n),
		"name": "exec_command", "arguments": string(arguments),
	}
}

func usage() map[string]any {
	return map[string]any{
		"input_tokens": 1, "input_tokens_details": nil,
		"output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
	}
}

func encode(name string, fields map[string]any) event {
	fields["type"] = name
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return event{name: name, data: data}
}
