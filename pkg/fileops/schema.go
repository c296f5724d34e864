package fileops

import _ "embed"

//go:embed schema/worker.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the lines: a request or an answer.
func Schema() []byte { return schema }
