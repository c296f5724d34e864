package shell

import "strings"

// serve handles a server of files, which shows a directory to whoever asks: the one that an option
// names, or an operand, else the working directory.
func (do *doing) serve(u *utility) {
	if do.by == "php" && !do.p.has("S") || do.by == "caddy" && (len(do.p.operands) == 0 || do.p.operands[0].text != "file-server") {
		return
	}
	dirs := do.p.values(strings.Fields(u.with)...)
	if len(dirs) == 0 && do.by != "php" && do.by != "http.server" && do.by != "caddy" {
		dirs = do.p.operands
	}
	if len(dirs) == 0 {
		dirs = []field{{text: "."}}
	}
	do.whole = true
	do.readAll(dirs)
}
