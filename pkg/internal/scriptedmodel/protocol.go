package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"strings"
)

// protocol is one kind of model end point.
type protocol struct {
	is      func(path string) bool
	stream  func(n int, t Turn) []byte          // the answer to request n, as server-sent events
	outputs func(body []byte) ([]string, error) // what a request says of the commands that were run
}

func protocolOf(path string) (protocol, bool) {
	for _, p := range []protocol{responses(), gemini(), chat()} {
		if p.is(path) {
			return p, true
		}
	}
	return protocol{}, false
}

func ending(suffix string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, suffix) }
}

// offersTools reports whether the model may call a tool; all three protocols use the same member.
func offersTools(body []byte) bool {
	var request struct {
		Tools []json.RawMessage `json:"tools"`
	}
	return json.Unmarshal(body, &request) == nil && len(request.Tools) > 0
}

// event returns one server-sent event; without a name it has only data.
func event(name string, data any) []byte {
	text := string(encode(data))
	if name == "" {
		return []byte("data: " + text + "\n\n")
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

func encode(data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return text
}

// text returns the value of a JSON string, or the JSON itself if the output is structured.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
