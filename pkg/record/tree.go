package record

import "fmt"

// Tree is the content of the work space around a run, and what ran there, under a seal: what [ethos/pkg/proof] makes and believes.
type Tree struct {
	// Before and After are names of git trees, in hexadecimal, over the files that are tracked, or neither tracked nor ignored, with their bytes as they are.
	Before string `json:"before"`
	After  string `json:"after"`
	// Written is how many files and directories were written meanwhile, also those that are as they were, and First one of them.
	Written int    `json:"written"`
	First   string `json:"first,omitempty"`
	// Reason says why there is no content, or no seal; "" when both are there.
	Reason string `json:"reason,omitempty"`
	// What ran, where, in which work space; absolute.
	Argv      []string `json:"argv"`
	Dir       string   `json:"dir"`
	Workspace string   `json:"workspace"`
	// Variables of the environment that were declared, or lead to what the command could write.
	Variables []string `json:"variables"`
	// Seal is an HMAC-SHA256, in hexadecimal, with a key that no confined command can read, of [Result.Sealing].
	Seal string `json:"seal"`
}

// Sealing is the text that the seal of a result's tree is of: canonical JSON of what a run was and how it ended, without what it printed.
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
