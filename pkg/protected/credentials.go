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

// credentials has its paths from the documentation of each program.
var credentials = []Credential{
	// Keys and password stores of the person.
	{Path: ".ssh", Dir: true},
	{Path: ".gnupg", Dir: true},
	{Path: ".password-store", Dir: true},
	{Path: ".local/share/keyrings", Dir: true},
	{Path: "Library/Keychains", Dir: true},
	{Path: ".config/op", Dir: true},
	{Path: ".config/sops", Dir: true},
	{Path: ".vault-token"},
	// Clouds, clusters, containers, infrastructure.
	{Path: ".aws", Dir: true},
	{Path: ".azure", Dir: true},
	{Path: ".config/gcloud", Dir: true},
	{Path: ".gcloud", Dir: true},
	{Path: ".config/rclone", Dir: true},
	{Path: ".kube", Dir: true},
	{Path: ".docker", Dir: true, Files: []string{"config.json"}},
	{Path: ".config/containers", Dir: true, Files: []string{"auth.json"}},
	{Path: ".terraform.d", Dir: true},
	{Path: ".terraformrc"},
	// Code hosts.
	{Path: ".config/gh", Dir: true},
	{Path: ".config/glab-cli", Dir: true},
	{Path: ".config/github-copilot", Dir: true},
	{Path: ".config/hub"},
	{Path: ".config/git/credentials"},
	{Path: ".git-credentials"},
	{Path: ".netrc"},
	// Package registries.
	{Path: ".npmrc"},
	{Path: ".yarnrc.yml"},
	{Path: ".pypirc"},
	{Path: ".cargo/credentials"},
	{Path: ".cargo/credentials.toml"},
	{Path: ".gem/credentials"},
	{Path: ".m2/settings.xml"},
	// Databases.
	{Path: ".pgpass"},
	{Path: ".my.cnf"},
	// Agents.
	{Path: ".claude/.credentials.json"},
	{Path: ".codex/auth.json"},
	{Path: ".gemini/oauth_creds.json"},
	{Path: ".local/share/opencode/auth.json"},
	// Browsers.
	{Path: ".mozilla", Dir: true},
	{Path: ".config/google-chrome", Dir: true},
	{Path: ".config/chromium", Dir: true},
	{Path: ".config/BraveSoftware", Dir: true},
	// Histories of typed commands.
	{Path: ".bash_history"},
	{Path: ".zsh_history"},
	{Path: ".python_history"},
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
