package record

import (
	"embed"
	"io/fs"
)

// LineSchema is the name, in [Schemas], of the schema of every line.
const LineSchema = "line.schema.json"

//go:embed schema/*.json
var schemas embed.FS

// Schemas returns the JSON Schemas (draft 2020-12) of the lines.
func Schemas() fs.FS {
	sub, err := fs.Sub(schemas, "schema")
	if err != nil {
		panic(err) // the embedded directory is named above
	}
	return sub
}
