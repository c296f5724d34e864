package record

import "fmt"

// Tree is the sealed content of the work space before and after a run, and what ran there.
// [ethos/pkg/proof] creates and verifies it.
type Tree struct {
	// Before and After are names of git trees, in hexadecimal, of the files that are tracked, or
	// neither tracked nor ignored, with their bytes unchanged.
	Before string `json:"before"`
	After  string `json:"after"`
	// Written is how many files and directories were written in the meantime, including those with
	// unchanged content. First is one of them.
	Written int    `json:"written"`
	First   string `json:"first,omitempty"`
	// Reason says why there is no content, or no seal; "" if both are present.
	Reason string `json:"reason,omitempty"`
	// What ran, where, and in which work space; paths are absolute.
	Argv      []string `json:"argv"`
	Dir       string   `json:"dir"`
	Workspace string   `json:"workspace"`
	// Variables of the environment that were declared, or that lead to files that the command could
	// write.
	Variables []string `json:"variables"`
	// Seal is an HMAC-SHA256, in hexadecimal, of [Result.Sealing], with a key that no confined
	// command can read.
	Seal string `json:"seal"`
}

// Sealing returns the text that the seal of a result's tree covers: canonical JSON of the run and
// its outcome, without its output.
func (r Result) Sealing(id string) ([]byte, error) {
	if r.Capture.Tree == nil {
		return nil, ErrAbsent
	}
	tree, box := *r.Capture.Tree, r.Capture.Sandbox
	tree.Seal = ""
	text, err := encode(struct {
		ID         string    `json:"id"`
		Status     string    `json:"status"`
		ExitCode   int       `json:"exit_code"`
		Signal     string    `json:"signal"`
		Started    string    `json:"started"`
		DurationMS float64   `json:"duration_ms"`
		Tree       Tree      `json:"tree"`
		Backend    string    `json:"backend"`
		Profile    string    `json:"profile"`
		Session    string    `json:"session"`
		Network    bool      `json:"network_isolated"`
		Controls   []Control `json:"controls"`
	}{id, r.Status, r.ExitCode, r.Signal, r.Started, r.DurationMS, tree, box.Backend, box.Profile, box.Session, box.NetworkIsolated, box.Controls})
	if err == nil {
		text, err = Canonical(text)
	}
	if err != nil {
		return nil, fmt.Errorf("seal the result: %w", err)
	}
	return text, nil
}
