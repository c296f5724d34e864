package origin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
)

// manifests maps the files in which a package manager stores dependencies and commands to the
// members that hold the commands.
var manifests = map[string][]string{
	"package.json":  {"scripts"},
	"composer.json": {"scripts"},
	"deno.json":     {"tasks"},
}

// Manifests returns the names of the manifest files.
func Manifests() []string { return []string{"package.json", "composer.json", "deno.json"} }

// ScriptsOf returns a digest of the commands in a manifest. For another file, or one that is not a
// JSON object, it is the digest of the whole text.
func ScriptsOf(path string, text []byte) string {
	sum := sha256.Sum256(Commands(path, text))
	return hex.EncodeToString(sum[:])
}

// Commands returns the part of a manifest that holds commands, or the whole text of any other file.
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
		var value any // normalised, so that white space and order do not matter
		if json.Unmarshal(all[m], &value) == nil {
			one, _ := json.Marshal(value)
			part = append(append(part, one...), '\n')
		}
	}
	return part
}
