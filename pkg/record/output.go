package record

// Output is a piece of a running command's output, on a line of its own.
type Output struct {
	Stream string `json:"stream" required:"true"` // stdout | stderr
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"` // instead of Text if the bytes are not UTF-8
	// Action is the action that has just been started, on the first output line of its id. That
	// line has an empty Text. See [NewStart].
	Action *Action `json:"action,omitempty"`
	// Queued says that the action waits for others to end. Such a line has an empty Text. See
	// [NewQueued].
	Queued bool `json:"queued,omitempty"`
}

// NewOutput returns a live output line of the action id.
func NewOutput(id, stream string, piece []byte) *Line {
	out := Output{Stream: stream}
	out.Text, out.Base64 = TextOrBase64(piece)
	l := newLine(LineOutput, id)
	l.put("output", out)
	return l
}

// NewStart returns the output line that announces the start of an action. Its text is present and
// empty, so that the concatenated texts of output lines are exactly what the command printed.
func NewStart(id string, action Action) *Line {
	l := newLine(LineOutput, id)
	l.put("output", struct {
		Stream string `json:"stream"`
		Text   string `json:"text"`
		Action Action `json:"action"`
	}{"stdout", "", action})
	return l
}

// NewQueued returns the output line that announces that an action waits for others to end. Its text
// is present and empty, as in [NewStart].
func NewQueued(id string) *Line {
	l := newLine(LineOutput, id)
	l.put("output", struct {
		Stream string `json:"stream"`
		Text   string `json:"text"`
		Queued bool   `json:"queued"`
	}{"stdout", "", true})
	return l
}
