package quarantine

import (
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
)

// promisors holds the remotes of one configuration from which git fetches
// missing objects without being asked: gitprotocol-v2(5), promisor-remote.c.
// Even git status does it.
type promisors struct {
	urls    map[string][]string // by remote
	rewrite bool                // url.*.insteadOf rewrites addresses
}

func promisorsIn(text []byte) promisors {
	p := promisors{urls: map[string][]string{}}
	_ = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error { // config reports the error
		if name, ok := remoteOf(e.Key, "url"); ok {
			p.urls[name] = append(p.urls[name], e.Value)
		}
		p.rewrite = p.rewrite || strings.HasPrefix(e.Key, "url.")
		return nil
	})
	return p
}

// remoteOf returns NAME from a key remote.NAME.VARIABLE.
func remoteOf(key, variable string) (string, bool) {
	rest, ok := strings.CutPrefix(key, "remote.")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "."+variable)
}

// of returns the remote that a setting turns into a promisor, or "" for other
// settings.
func (p promisors) of(e gitrepo.Entry) string {
	if e.Key == "extensions.partialclone" {
		return e.Value
	}
	if name, ok := remoteOf(e.Key, "promisor"); ok {
		return name
	}
	return ""
}

// misplaced reports whether a setting gives the address of a remote in a file
// other than the one that git writes it to. Checking that file alone would then
// give a wrong result.
func misplaced(path, key string) bool {
	return filepath.Base(path) != "config" && (strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "remote."))
}

// lead returns where fetching from a remote leads, and whether it uses git's
// own HTTP helper. Otherwise ssh(1), or git in another repository, would start
// unasked. A remote name without an address counts as the address.
func (p promisors) lead(name string) (where string, plain bool) {
	urls := p.urls[name]
	plain = len(urls) > 0 && !p.rewrite
	for _, url := range urls {
		plain = plain && (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://"))
	}
	return strings.Join(urls, " "), plain
}
