package origin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
)

// manifests are the files that a package manager writes dependencies into and runs
// commands out of, and the members that have the commands.
var manifests = map[string][]string{
	"package.json":  {"scripts"},
	"composer.json": {"scripts"},
	"deno.json":     {"tasks"},
}

// Manifests are the names of such files.
func Manifests() []string { return []string{"package.json", "composer.json", "deno.json"} }

// ScriptsOf is a digest of the commands in a manifest; of another file, or one
// that is no JSON object, it is that of the whole.
func ScriptsOf(path string, text []byte) string {
	sum := sha256.Sum256(Commands(path, text))
	return hex.EncodeToString(sum[:])
}

// Commands is the part of a manifest that has the commands, the whole text of another file.
func Commands(path string, text []byte) []byte {
	members, ok := manifests[filepath.Base(path)]
	if !ok {
		return text
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text
	}
	part := []byte{}
	for _, m := range members {
		var value any // in one form, whatever its spaces and order
		if json.Unmarshal(all[m], &value) == nil {
			one, _ := json.Marshal(value)
			part = append(append(part, one...), '\n')
		}
	}
	return part
}
