package protected

import "strings"

// Credential is a path below a home directory where programs keep secrets. A confined command does
// not see it, a repository cannot declare it, and the facts name a command that reads it.
type Credential struct {
	Path string
	Dir  bool
	// Files are the parts of a directory that hold the secret, if the other parts do not. Reads by
	// a command are judged by these parts; the sandbox hides the whole directory.
	Files []string
}

// Credentials lists the credential paths. The caller must not change the slice.
func Credentials() []Credential { return credentials }

// HoldsCredentials reports whether a path below a home directory is a credential path or lies below
// one. It ignores case, as some file systems do.
func HoldsCredentials(rel string) bool {
	rel = strings.ToLower(rel)
	for i := range credentials {
		path := strings.ToLower(credentials[i].Path)
		if rel == path || strings.HasPrefix(rel, path+"/") {
			return true
		}
	}
	return false
}
