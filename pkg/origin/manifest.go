package origin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
)

// commandsOf returns the member that holds the commands in a file in which a package manager stores
// dependencies and commands, or "" for another file.
func commandsOf(manifest string) string {
	switch manifest {
	case "package.json", "composer.json":
		return "scripts"
	case "deno.json":
		return "tasks"
	}
	return ""
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
	member := commandsOf(filepath.Base(path))
	if member == "" {
		return text
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text
	}
	var value any // normalised, so that white space and order do not matter
	if json.Unmarshal(all[member], &value) != nil {
		return []byte{}
	}
	part, _ := json.Marshal(value)
	return append(part, '\n')
}
