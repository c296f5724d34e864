package sarif

import (
	"net/url"
	"regexp"
	"strings"
)

// Provenance is the origin of a workspace (3.23).
type Provenance struct {
	RepositoryURI string // absolute, without credentials
	Revision      string
	Branch        string
}

// FromEnvironment reads what a CI service says about its checkout: GitHub Actions and GitLab CI.
func FromEnvironment(getenv func(string) string) *Provenance {
	if server, repo := getenv("GITHUB_SERVER_URL"), getenv("GITHUB_REPOSITORY"); server != "" && repo != "" {
		return &Provenance{RepositoryURI(server + "/" + repo), getenv("GITHUB_SHA"), strings.TrimPrefix(getenv("GITHUB_REF"), "refs/heads/")}
	}
	if project := getenv("CI_PROJECT_URL"); project != "" {
		return &Provenance{RepositoryURI(project), getenv("CI_COMMIT_SHA"), getenv("CI_COMMIT_REF_NAME")}
	}
	return nil
}

// RepositoryURI converts a git remote to a URI: the short form user@host:path becomes ssh://, a
// path file://. Credentials are removed.
func RepositoryURI(remote string) string {
	short := regexp.MustCompile(`^(?:([^/@:]+)@)?([^/@:]+):([^/].*)$`)
	if m := short.FindStringSubmatch(remote); m != nil && !strings.Contains(remote, "://") {
		return "ssh://" + m[2] + "/" + escape(m[3])
	}
	if strings.HasPrefix(remote, "/") {
		return "file://" + escape(remote)
	}
	u, err := url.Parse(remote)
	if err != nil || u.Scheme == "" {
		return ""
	}
	u.User = nil
	return u.String()
}
