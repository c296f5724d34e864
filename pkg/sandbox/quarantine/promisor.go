package quarantine

import (
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
)

// promisors are the remotes of one configuration from which git fetches objects
// that are missing, without being asked: gitprotocol-v2(5), promisor-remote.c.
// git status is enough.
type promisors struct {
	urls    map[string][]string // by remote
	rewrite bool                // url.*.insteadOf makes other addresses of them
}

func promisorsIn(text []byte) promisors {
	p := promisors{urls: map[string][]string{}}
	_ = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error { // an error is config's
		if name, ok := remoteOf(e.Key, "url"); ok {
			p.urls[name] = append(p.urls[name], e.Value)
		}
		p.rewrite = p.rewrite || strings.HasPrefix(e.Key, "url.")
		return nil
	})
	return p
}

// remoteOf is the name in a key remote.NAME.VARIABLE.
func remoteOf(key, variable string) (string, bool) {
	rest, ok := strings.CutPrefix(key, "remote.")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "."+variable)
}

// of is the remote that a setting makes one to fetch from; "" for other settings.
func (p promisors) of(e gitrepo.Entry) string {
	if e.Key == "extensions.partialclone" {
		return e.Value
	}
	if name, ok := remoteOf(e.Key, "promisor"); ok {
		return name
	}
	return ""
}

// misplaced reports whether a setting says where a remote is, in a file other
// than the one that git writes it to: judged alone, that one would lie.
func misplaced(path, key string) bool {
	return filepath.Base(path) != "config" && (strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "remote."))
}

// lead reports where fetching from a remote leads, and whether that is by git's
// own helper for HTTP: ssh(1), and git in another repository, would start
// unasked. A name without an address is taken for one.
func (p promisors) lead(name string) (where string, plain bool) {
	urls := p.urls[name]
	plain = len(urls) > 0 && !p.rewrite
	for _, url := range urls {
		plain = plain && (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://"))
	}
	return strings.Join(urls, " "), plain
}
