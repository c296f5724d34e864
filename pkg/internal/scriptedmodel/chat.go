package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// chat is the chat completions API of OpenAI, streamed, as OpenCode 1.18.33 reads it from a compatible provider.
func chat() protocol {
	return protocol{is: ending("/chat/completions"), stream: chatStream, outputs: chatOutputs}
}

// chatStream returns one chunk with the whole turn, one that finishes it, and the end mark.
func chatStream(n int, t Turn) []byte {
	delta, reason := map[string]any{"role": "assistant", "content": t.say}, "stop"
	if tool, input, ok := t.calls("bash", "command", map[string]any{"description": "as told"}); ok {
		delta, reason = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": map[string]any{"name": tool, "arguments": string(encode(input))},
		}}}, "tool_calls"
	}
	return bytes.Join([][]byte{
		event("", chatChunk(n, delta, nil)),
		event("", chatChunk(n, map[string]any{}, reason)),
		[]byte("data: [DONE]\n\n"),
	}, nil)
}

func chatChunk(n int, delta map[string]any, reason any) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("chat_%d", n), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}
}

func chatOutputs(body []byte) ([]string, error) {
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	err := json.Unmarshal(body, &request)
	var outputs []string
	for _, m := range request.Messages {
		if m.Role == "tool" {
			outputs = append(outputs, text(m.Content))
		}
	}
	return outputs, err
}
