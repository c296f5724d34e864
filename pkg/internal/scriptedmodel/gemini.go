package scriptedmodel

import "encoding/json"

// gemini is the Gemini API's streamGenerateContent with alt=sse; the fields are those that Gemini CLI 0.61.0 requires.
func gemini() protocol {
	return protocol{is: ending(":streamGenerateContent"), stream: geminiStream, outputs: geminiOutputs}
}

func geminiStream(_ int, t Turn) []byte {
	part := map[string]any{"text": t.say}
	if tool, input, ok := t.calls("run_shell_command", "command", nil); ok {
		part = map[string]any{"functionCall": map[string]any{"name": tool, "args": input}}
	}
	return event("", map[string]any{
		"candidates": []any{map[string]any{
			"content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
}

func geminiOutputs(body []byte) ([]string, error) {
	var request struct {
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct {
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	err := json.Unmarshal(body, &request)
	var outputs []string
	for _, content := range request.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				outputs = append(outputs, geminiText(part.FunctionResponse.Response))
			}
		}
	}
	return outputs, err
}

// geminiText returns the output or the error of a function's response.
func geminiText(response json.RawMessage) string {
	var fields struct{ Output, Error *string }
	if json.Unmarshal(response, &fields) == nil {
		switch {
		case fields.Error != nil:
			return *fields.Error
		case fields.Output != nil:
			return *fields.Output
		}
	}
	return string(response)
}
