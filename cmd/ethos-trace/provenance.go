package main

import (
	"os"
	"path/filepath"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/trace/sarif"
)

// provenance returns a function for the origin of a workspace: from the CI service, else from its
// repository.
func provenance(sys *cli.System) func(string) *sarif.Provenance {
	return func(space string) *sarif.Provenance {
		if p := sarif.FromEnvironment(sys.Getenv); p != nil {
			return p
		}
		repo, err := gitrepo.Open(space, gitrepo.FromEnviron(sys.Getenv))
		if err != nil || repo.Record.GitDir == "" {
			return nil
		}
		remote, _ := repo.Config.Get("remote.origin.url")
		uri := sarif.RepositoryURI(remote)
		if uri == "" {
			return nil
		}
		return &sarif.Provenance{RepositoryURI: uri, Branch: repo.Record.Branch, Revision: revision(repo)}
	}
}

// revision returns the commit that is checked out, or "" if it cannot be determined without git.
func revision(repo *gitrepo.Repository) string {
	if repo.Record.Branch == "" {
		return commit(readSmall(filepath.Join(repo.Record.GitDir, "HEAD")))
	}
	ref := "refs/heads/" + repo.Record.Branch
	if id := commit(readSmall(filepath.Join(repo.Record.CommonDir, filepath.FromSlash(ref)))); id != "" {
		return id
	}
	for line := range strings.Lines(readSmall(filepath.Join(repo.Record.CommonDir, "packed-refs"))) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commit(id)
		}
	}
	return ""
}

func readSmall(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<20 {
		return ""
	}
	text, _ := os.ReadFile(path)
	return string(text)
}

// commit returns the text if it is a hexadecimal object name, SHA-1 or SHA-256, else "".
func commit(text string) string {
	text = strings.TrimSpace(text)
	if (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == "" {
		return text
	}
	return ""
}
