package shell

import (
	"path"
	"strings"
)

// remote reports whether a path of rsync or scp is on another machine: host:path, but not ./a:b.
func remote(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !strings.Contains(text[:colon], "/")
}

func (do *doing) rsync(inv invocation) {
	if rsh, ok := do.p.value("e", "rsh"); ok {
		do.shellCode(rsh, "rsync -e", &positional{dyn: true}, inv)
	}
	if do.p.has("n", "dry-run", "list-only") || len(do.p.operands) < 2 {
		return
	}
	last := len(do.p.operands) - 1
	for _, f := range do.p.operands[:last] {
		if remote(f.text) {
			continue
		}
		if do.readTree(f, "r", "a", "recursive", "archive"); do.p.has("remove-source-files") {
			do.writeOne(f, opMove)
		}
	}
	if to := do.p.operands[last]; !remote(to.text) {
		do.writeOne(to, opWrite)
		if do.p.has("delete", "del", "delete-before", "delete-during", "delete-after", "delete-excluded", "delete-delay") {
			do.writeOne(to, opDelete)
		}
	}
}

// sshOptions follows the settings of ssh that name a command to run on this machine
// (ssh_config(5)).
func (do *doing) sshOptions(inv invocation) {
	for _, f := range do.p.values("o") {
		do.setting("proxycommand localcommand knownhostscommand @pkcs11provider @securitykeyprovider", f, do.by+" -o", inv)
	}
	do.readAll(do.p.values("F"))
	if do.by != "ssh" {
		for _, prog := range do.p.values("S") {
			do.shellCode(prog, do.by+" -S", &positional{dyn: true}, inv)
		}
	}
}

func (do *doing) scp() {
	last := len(do.p.operands) - 1
	for i, f := range do.p.operands {
		switch {
		case remote(f.text) || strings.Contains(f.text, "://"):
		case i == last:
			do.writeOne(f, opWrite)
		default:
			do.readTree(f, "r")
		}
	}
}

// curl handles curl, which writes with -o and -O, and reads what it sends.
func (do *doing) curl() {
	d := do.d
	if f, ok := do.p.value("output-dir"); ok {
		do.d = do.enterDir(f, do.d)
	}
	for _, f := range do.p.values("o", "output") {
		if f.text != "-" {
			do.writeOne(f, opWrite)
		}
	}
	if do.p.has("O", "remote-name", "remote-name-all") {
		for _, f := range append(do.p.values("url"), do.p.operands...) {
			do.writeOne(urlFile(f), opWrite)
		}
	}
	do.d = d
	for _, f := range do.p.values("c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii", "stderr", "hsts", "alt-svc", "etag-save", "libcurl") {
		if f.text != "-" && f.text != "%" {
			do.writeOne(f, opWrite)
		}
	}
	for _, f := range do.p.values("w", "write-out") {
		do.curlWrites(f)
	}
	do.curlReads()
}

// curlWrites handles a format of curl: %output{FILE} and %output{>>FILE} name where
// what follows is written.
func (do *doing) curlWrites(format field) {
	const begin = "%output{"
	for i := strings.Index(format.text, begin); i >= 0; i = strings.Index(format.text, begin) {
		format = format.from(i + len(begin))
		name, _, _ := strings.Cut(format.text, "}")
		out := format.from(len(name) - len(strings.TrimPrefix(name, ">>")))
		out.text = strings.TrimPrefix(name, ">>")
		do.writeOne(out, opWrite)
	}
}

func (do *doing) curlReads() {
	for _, f := range append(do.p.values("url"), do.p.operands...) {
		if strings.HasPrefix(f.text, "file://") {
			do.readOne(f.from(len("file://")))
		}
	}
	do.readAll(do.p.values("T", "upload-file", "K", "config", "E", "cert", "key", "netrc-file"))
	for _, f := range do.p.values("d", "data", "data-binary", "data-ascii", "json", "H", "header") {
		if strings.HasPrefix(f.text, "@") {
			do.readOne(f.from(1))
		}
	}
	for _, f := range do.p.values("F", "form", "data-urlencode") {
		if at := strings.IndexAny(f.text, "@<"); at >= 0 && (at == 0 || f.text[at-1] == '=' || !strings.Contains(f.text[:at], "=")) {
			end := len(f.text)
			if semi := strings.IndexByte(f.text[at:], ';'); semi > 0 {
				end = at + semi
			}
			g := f.from(at + 1)
			g.text = g.text[:end-at-1]
			do.readOne(g)
		}
	}
}

// urlFile returns the file name under which a URL is saved: its last element.
func urlFile(f field) field {
	out := f
	out.runs = nil
	if f.dyn {
		out.text = "*"
		return out
	}
	_, rest, found := strings.Cut(f.text, "://")
	if !found {
		rest = f.text
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	_, rest, _ = strings.Cut(rest, "/")
	if out.text = path.Base(rest); out.text == "." || out.text == "/" {
		out.text = "index.html"
	}
	return out
}

func (do *doing) wget() {
	for _, f := range do.p.values("o", "output-file", "a", "append-output", "save-cookies") {
		do.writeOne(f, opWrite)
	}
	do.readAll(do.p.values("i", "input-file", "post-file", "body-file", "load-cookies"))
	if do.p.has("spider") {
		return
	}
	if out, ok := do.p.value("O", "output-document"); ok {
		if out.text != "-" {
			do.writeOne(out, opWrite)
		}
		return
	}
	if d, ok := do.p.value("P", "directory-prefix"); ok {
		do.d = do.enterDir(d, do.d)
	}
	for _, f := range do.p.operands {
		do.writeOne(urlFile(f), opWrite)
	}
}
