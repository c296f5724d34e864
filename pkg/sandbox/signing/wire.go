package signing

import (
	"encoding/json"
	"fmt"
	"io"
)

// request is the message to the signer. The end of the stream ends it.
type request struct {
	Format     string `json:"format"`
	Key        string `json:"key"` // the key that git asks for
	Repository string `json:"repository"`
	Payload    []byte `json:"payload"`
}

// answer is the reply: a signature, or why there is none.
type answer struct {
	Signature []byte `json:"signature,omitempty"`
	Refused   string `json:"refused,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

// maxMessage limits a request: the payload in base64, and the rest.
const maxMessage = MaxPayload/3*4 + 64<<10

// receive reads one message. A message longer than the limit is an error.
func receive(in io.Reader, message any) error {
	text, err := io.ReadAll(io.LimitReader(in, maxMessage+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxMessage:
		return fmt.Errorf("a message of more than %d bytes", maxMessage)
	}
	return json.Unmarshal(text, message)
}

func send(out io.Writer, message any) error {
	text, err := json.Marshal(message)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}
