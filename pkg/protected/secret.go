package protected

import (
	"path"
	"slices"
	"strings"
)

// samples are the suffixes of environment files that are meant to be published.
var samples = []string{"example", "sample", "template", "tmpl", "dist", "defaults", "default", "schema", "vault", "encrypted", "enc", "gpg"}

// EnvFile reports whether a path is an environment file with the secrets of a project, such as
// `.env` or `.env.local`. A sample file such as `.env.example` is not one.
func EnvFile(name string) bool {
	rest, ok := ofEnv(name)
	return ok && !sample(rest)
}

// SampleEnvFile reports whether a path is a sample of an environment file, such as `.env.example`.
func SampleEnvFile(name string) bool {
	rest, ok := ofEnv(name)
	return ok && sample(rest)
}

// ofEnv returns the part of a file name that follows ".env".
func ofEnv(name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.ToLower(path.Base(name)), ".env")
	return rest, ok && (rest == "" || rest[0] == '.')
}

func sample(rest string) bool {
	for part := range strings.SplitSeq(rest, ".") {
		for _, s := range samples {
			if part == s {
				return true
			}
		}
	}
	return false
}

// Secret reports whether a file's name alone, in any directory, says that the file holds a secret.
func Secret(name string) bool {
	if EnvFile(name) {
		return true
	}
	base := strings.ToLower(path.Base(name))
	for _, k := range keys {
		if base == k {
			return true
		}
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk":
		return true
	}
	return slices.Contains(secretNames, base)
}

// published are the words in the name of a PEM file that holds no private key.
var published = []string{"ca", "cacert", "cacerts", "rootca", "root", "cert", "certs", "certificate", "certificates", "crt", "chain", "fullchain", "bundle", "pub", "public", "csr", "req", "dhparam"}

// Key reports whether a file's name alone says that the file opens something: that it holds a
// private key, or passwords. Of the names of [Secret] it leaves out environment files, and PEM files
// that are named for their certificates.
func Key(name string) bool {
	if stem, pem := strings.CutSuffix(strings.ToLower(path.Base(name)), ".pem"); pem {
		words := strings.FieldsFunc(stem, func(r rune) bool { return r < 'a' || r > 'z' })
		if !slices.Contains(words, "key") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(published, w) }) {
			return false
		}
	}
	return Secret(name) && !EnvFile(name)
}

// Sensitive reports whether a word names a place where credentials are kept: below a home
// directory, which may be written as "~/", as a usual path of home directories, or as home, or one
// of the system's files. home may be "".
func Sensitive(word, home string) bool {
	for _, s := range system {
		if word == s || word == s+"-" {
			return true
		}
	}
	rest, ok := BelowHome(word)
	if below, in := strings.CutPrefix(word, strings.TrimSuffix(home, "/")+"/"); in && home != "" {
		rest, ok = below, true
	}
	base := path.Base(word)
	for _, k := range keys {
		if base == k && strings.Contains(word, "/") {
			return true
		}
	}
	return ok && HoldsCredentials(path.Clean(rest)) || strings.HasPrefix(word, "/etc/ssh/ssh_host_") && strings.HasSuffix(word, "_key") ||
		strings.HasPrefix(word, "/proc/") && path.Base(word) == "environ"
}

// BelowHome returns the part of a path below the home directory of any user, which may be written as
// "~/", as "~user/" or as a usual path of home directories, in any case.
func BelowHome(path string) (rest string, ok bool) {
	if strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "~+") && !strings.HasPrefix(path, "~-") { // directories of the shell
		_, rest, ok = strings.Cut(path, "/")
		return rest, ok
	}
	for _, root := range [...]string{"/root/", "/home/", "/users/"} {
		if len(path) < len(root) || !strings.EqualFold(path[:len(root)], root) {
			continue
		}
		if rest = path[len(root):]; root == "/root/" {
			return rest, true
		}
		_, rest, ok = strings.Cut(rest, "/")
		return rest, ok
	}
	return "", false
}
