package shell

import (
	"slices"
	"sort"
	"strings"

	"ethos/pkg/protected"
)

// wordEffect lists further effects of a program's words, that is options (without dashes) and
// operands, from its manual page.
type wordEffect struct {
	name     string
	runs     string // options whose value is code for a shell
	loads    string // options whose value is a program that is started, or a library that is loaded
	commas   string // options whose value is a command with commas between its words
	settings string // options whose value is NAME=VALUE
	keys     string // the names of settings, as patterns in small letters, whose value is like that of runs, or with "@" of loads
	options  string // options whose value is more options of the program
	embeds   string // the notation in which any word may have code: see embedded
	writes   string // options whose value is a file that is written
	reads    string // options whose value is a file that is read, and shown or sent
	// target says which operands are written: the "last" of several, "all", "first", or "second" or
	// "third" and those after it.
	target string
	when   string // words, one of which must be present for target to apply
}

// wordEffects is sorted by name.
var wordEffects = [...]wordEffect{
	{name: "7z", target: "second", when: "a u d rn"},
	{name: "7za", target: "second", when: "a u d rn"},
	{name: "7zr", target: "second", when: "a u d rn"},
	{name: "7zz", target: "second", when: "a u d rn"},
	{name: "age", writes: "o output", reads: "i identity R recipients-file"},
	{name: "apt", settings: "o option", keys: "*invoke* @dir::bin::*"},
	{name: "apt-cache", settings: "o option", keys: "*invoke* @dir::bin::*"},
	{name: "apt-get", settings: "o option", keys: "*invoke* @dir::bin::*"},
	{name: "aptitude", settings: "o option", keys: "*invoke* @dir::bin::*"},
	{name: "ar", loads: "plugin"},
	{name: "aria2c", runs: "on-download-complete on-download-error on-download-start on-download-stop on-bt-download-complete", writes: "o out d dir l log", reads: "i input-file"},
	{name: "bat", runs: "pager"},
	{name: "batcat", runs: "pager"},
	{name: "bazel", runs: "run_under"},
	{name: "bazelisk", runs: "run_under"},
	{name: "bison", writes: "o output"},
	{name: "bpftrace", runs: "c"},
	{name: "bsdtar", runs: "use-compress-program"},
	{name: "c++", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "cabal", loads: "w with-compiler with-gcc with-ld"},
	{name: "cargo", runs: "s shell"}, // of cargo watch
	{name: "cc", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "certbot", runs: "deploy-hook manual-auth-hook manual-cleanup-hook post-hook pre-hook renew-hook"},
	{name: "chrome", runs: "gpu-launcher renderer-cmd-prefix utility-cmd-prefix"},
	{name: "chromium", runs: "gpu-launcher renderer-cmd-prefix utility-cmd-prefix"},
	{name: "clang", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "clang++", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "cmake", settings: "D", keys: "@cmake_*_compiler @cmake_*_compiler:* @cmake_*_launcher @cmake_*_launcher:* @cmake_make_program @cmake_make_program:*"},
	{name: "convert", target: "last"},
	{name: "cpio", runs: "rsh-command", writes: "O", reads: "I F"},
	{name: "crudini", target: "first", when: "--set --del --merge"},
	{name: "dasel", target: "all", when: "put"},
	{name: "delta", runs: "pager"},
	{name: "dos2unix", target: "all"},
	{name: "dpkg", runs: "pre-invoke post-invoke"},
	{name: "dump", writes: "f"},
	{name: "etex", embeds: "tex"},
	{name: "ffmpeg", target: "last"},
	{name: "flex", writes: "o outfile"},
	{name: "fzf", runs: "preview preview", embeds: "fzf"},
	{name: "g++", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "gawk", loads: "l load"},
	{name: "gcc", loads: "B fplugin fpass-plugin fuse-ld ld-path", commas: "wrapper"},
	{name: "gcc-ar", loads: "plugin"},
	{name: "gcc-nm", loads: "plugin"},
	{name: "gem", runs: "e editor"},
	{name: "ghc", loads: "pgmF pgmL pgmP pgma pgmc pgmi pgml"},
	{name: "go", runs: "exec toolexec vettool", loads: "extld", options: "ldflags"},
	{name: "google-chrome", runs: "gpu-launcher renderer-cmd-prefix utility-cmd-prefix"},
	{name: "gotestsum", runs: "post-run-command"},
	{name: "gpg", runs: "agent-program dirmngr-program photo-viewer pinentry-program"},
	{name: "gpg2", runs: "agent-program dirmngr-program photo-viewer pinentry-program"},
	{name: "helm", runs: "post-renderer"},
	{name: "helmfile", runs: "b helm-binary"},
	{name: "hg", settings: "config", keys: "alias.* hooks.* ui.editor ui.merge ui.ssh pager.pager merge-tools.*.executable extdiff.cmd.*"},
	{name: "install", runs: "strip-program"},
	{name: "java", runs: "XX:OnError XX:OnOutOfMemoryError"},
	{name: "jj", settings: "config", keys: "ui.diff-editor ui.editor ui.merge-editor ui.pager merge-tools.*.program"},
	{name: "latex", embeds: "tex"},
	{name: "latexmk", runs: "pdflatex latex xelatex lualatex"},
	{name: "ld", loads: "plugin"},
	{name: "ld.gold", loads: "plugin"},
	{name: "ld.lld", loads: "plugin"},
	{name: "lualatex", embeds: "tex"},
	{name: "luatex", embeds: "tex"},
	{name: "lynx", runs: "editor"},
	{name: "lz4", target: "last"},
	{name: "mac2unix", target: "all"},
	{name: "magick", target: "last"},
	{name: "man", runs: "P pager H html"},
	{name: "mariadb", runs: "pager"},
	{name: "meson", runs: "wrap wrapper"},
	{name: "mongodump", writes: "o out archive"},
	{name: "mongoexport", writes: "o out"},
	{name: "mosh", runs: "client server ssh"},
	{name: "msgattrib", writes: "o output-file"},
	{name: "msgcat", writes: "o output-file"},
	{name: "msgconv", writes: "o output-file"},
	{name: "msgfilter", writes: "o output-file"},
	{name: "msgfmt", writes: "o output-file"},
	{name: "msgmerge", writes: "o output-file"},
	{name: "msguniq", writes: "o output-file"},
	{name: "mysql", runs: "pager"},
	{name: "mysqldump", writes: "r result-file"},
	{name: "nano", runs: "s speller"},
	{name: "nasm", writes: "o l", reads: "@"},
	{name: "nc", runs: "e c"},
	{name: "ncat", runs: "e c exec sh-exec", writes: "o output x hex-dump"},
	{name: "netcat", runs: "e c"},
	{name: "nm", loads: "plugin"},
	{name: "nmap", writes: "oN oX oG oA oS", reads: "iL excludefile"},
	{name: "npm", runs: "script-shell"},
	{name: "objcopy", target: "last"},
	{name: "ocaml", runs: "pp ppx"},
	{name: "ocamlc", runs: "pp ppx"},
	{name: "ocamlfind", runs: "pp ppx"},
	{name: "ocamlopt", runs: "pp ppx"},
	{name: "openvpn", runs: "up down route-up ipchange tls-verify learn-address client-connect client-disconnect auth-user-pass-verify", writes: "log log-append status writepid", reads: "config"},
	{name: "pandoc", runs: "filter F pdf-engine"},
	{name: "pdflatex", embeds: "tex"},
	{name: "pdftex", embeds: "tex"},
	{name: "pg_dump", writes: "f file"},
	{name: "pg_dumpall", writes: "f file"},
	{name: "pico", runs: "s"},
	{name: "pnpm", runs: "script-shell"},
	{name: "rage", writes: "o output"},
	{name: "ranlib", loads: "plugin"},
	{name: "rar", target: "second", when: "a u m d"},
	{name: "restic", writes: "target t", reads: "files-from"},
	{name: "rpm", runs: "pipe", embeds: "rpm"},
	{name: "rpmbuild", embeds: "rpm"},
	{name: "rpmdb", embeds: "rpm"},
	{name: "rpmkeys", embeds: "rpm"},
	{name: "rpmquery", runs: "pipe", embeds: "rpm"},
	{name: "rpmspec", embeds: "rpm"},
	{name: "rustc", settings: "C codegen", keys: "@linker"},
	{name: "rustdoc", runs: "test-runtool runtool"},
	{name: "scrot", runs: "e exec"},
	{name: "sd", target: "third"},
	{name: "sftp", runs: "D"},
	{name: "sk", runs: "preview c cmd", embeds: "fzf"},
	{name: "sort", runs: "compress-program"},
	{name: "ssh", loads: "I"},
	{name: "ssh-add", loads: "s S"},
	{name: "ssh-keygen", loads: "D w"},
	{name: "stack", loads: "with-gcc"},
	{name: "strip", writes: "o"},
	{name: "svn", runs: "diff-cmd diff3-cmd editor-cmd", settings: "config-option", keys: "config:helpers:* config:tunnels:*"},
	{name: "tcpdump", runs: "z", writes: "w", reads: "r F V"},
	{name: "terragrunt", runs: "terragrunt-tfpath tf-path"},
	{name: "tex", embeds: "tex"},
	{name: "tic", writes: "o"},
	{name: "tshark", writes: "w", reads: "r"},
	{name: "unix2dos", target: "all"},
	{name: "uudecode", writes: "o output-file"},
	{name: "wget", runs: "use-askpass"},
	{name: "xelatex", embeds: "tex"},
	{name: "xetex", embeds: "tex"},
	{name: "xgettext", writes: "o output"},
	{name: "xmlstarlet", target: "last", when: "-L --inplace"},
	{name: "xsltproc", writes: "o output"},
	{name: "yacc", writes: "o"},
	{name: "youtube-dl", runs: "exec", writes: "o output"},
	{name: "yq", target: "last", when: "-i --inplace --in-place"},
	{name: "yt-dlp", runs: "exec", writes: "o output"},
}

// words records the effects of a program's words according to that table.
func (do *doing) words(inv invocation) {
	i := sort.Search(len(wordEffects), func(i int) bool { return wordEffects[i].name >= do.by })
	if i == len(wordEffects) || wordEffects[i].name != do.by {
		return
	}
	w, args := &wordEffects[i], inv.fields[1:]
	if asksOnly(args) {
		return
	}
	found := w.when == ""
	var operands []field
	for i, f := range args {
		found = found || slices.Contains(strings.Fields(w.when), f.text)
		do.embedded(w.embeds, f, inv)
		if !isOption(f) {
			if f.text != "" && f.text[0] != '|' {
				operands = append(operands, f)
			}
			continue
		}
		option, _, attached := strings.Cut(strings.TrimLeft(f.text, "-"), "=")
		if n := len(f.text); do.by == "dump" && n > 2 && f.text[1] != '-' { // dump -0f FILE
			option = f.text[n-1:]
		}
		var value field
		switch {
		case w.attaches(f.text):
			option, value = f.text[1:2], f.from(2)
		case attached:
			value = f.from(strings.IndexByte(f.text, '=') + 1)
		case i+1 < len(args):
			value = args[i+1]
		default:
			continue
		}
		do.wordOption(w, option, value, inv)
	}
	if found {
		do.written(w.target, args, operands)
	}
}

// wordOption records the effect of one option of a program.
func (do *doing) wordOption(w *wordEffect, option string, value field, inv invocation) {
	label := do.by + " -" + option
	has := func(options string) bool { return slices.Contains(strings.Fields(options), option) }
	switch {
	case has(w.runs) && value.text != "":
		do.shellCode(value, label, &positional{dyn: true}, inv)
	case has(w.loads):
		do.loaded(value, label, inv)
	case has(w.commas):
		var words []field
		for at, word := range byComma(value.text) {
			part := value.from(at)
			part.text = word
			words = append(words, part)
		}
		do.started(words, label, inv)
	case has(w.settings):
		do.setting(w.keys, value, label, inv)
	case has(w.options):
		do.moreOptions(do.by, value, inv)
	case has(w.writes) && value.text != "-":
		do.writeOne(value, opWrite)
	case has(w.reads):
		do.readOne(value)
	}
}

// attaches reports whether a word is a short option that names code or a setting, with its value
// attached: -P./x.
func (w *wordEffect) attaches(word string) bool {
	known := strings.Fields(w.runs + " " + w.loads + " " + w.settings)
	if len(word) < 3 || word[1] == '-' || word[2] == '=' || !slices.Contains(known, word[1:2]) {
		return false
	}
	name, _, _ := strings.Cut(word[1:], "=")
	return !slices.Contains(append(known, strings.Fields(w.commas+" "+w.options+" "+w.writes+" "+w.reads)...), name)
}

// byComma yields the parts of a text between commas, with their offsets.
func byComma(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at <= len(text); {
			part, _, _ := strings.Cut(text[at:], ",")
			if !yield(at, part) {
				return
			}
			at += len(part) + 1
		}
	}
}

// written records the operands that are written. The last word of a command line is its last
// operand, whatever its options take.
func (do *doing) written(target string, args, operands []field) {
	n := len(operands)
	switch {
	case target == "last" && n > 1 && !isOption(args[len(args)-1]) && args[0].text != "identify" && args[len(args)-1].text != "-":
		do.writeOne(args[len(args)-1], opWrite)
	case target == "all":
		do.writeAll(operands, opWrite)
	case target == "first" && n > 0:
		do.writeOne(operands[0], opWrite)
	case target == "second" && n > 1:
		do.writeOne(operands[1], opWrite)
	case target == "third" && n > 2:
		do.writeAll(operands[2:], opWrite)
	}
}

// shown records as read the words that a program shows or sends, even if the program otherwise uses
// credentials only where they are kept ([namesOnly]): files that git takes as content or compares
// outside of a repository, files that a container gets to see, files that become an object of a
// cluster.
func (c *walker) shown(inv invocation, name string) {
	args, d := inv.fields[1:], c.dirOf(inv)
	take := func(f field) {
		if part, ok := c.sensitive(f); ok {
			c.read(c.locate(part, d), name)
		}
	}
	has := func(words ...string) bool {
		for _, f := range args {
			if slices.Contains(words, f.text) {
				return true
			}
		}
		return false
	}
	switch name {
	case "git":
		if !has("--no-index", "hash-object", "apply", "am", "--file", "-f", "-F", "--contents", "interpret-trailers", "mailinfo", "mailsplit") {
			return
		}
		for _, f := range args {
			if take(f); !f.dyn && !isOption(f) && has("--no-index", "hash-object") && protected.EnvFile(f.text) {
				c.read(c.locate(f, d), name)
			}
		}
	case "docker", "podman", "nerdctl":
		for i, f := range args {
			mounts := i > 0 && slices.Contains([]string{"-v", "--volume", "--mount"}, args[i-1].text) || strings.HasPrefix(f.text, "-v") || strings.HasPrefix(f.text, "--volume") || strings.HasPrefix(f.text, "--mount")
			if mounts || i > 0 && has("cp") {
				take(f)
			}
		}
	case "kubectl", "oc":
		for i, f := range args {
			if strings.HasPrefix(f.text, "--from-file") || strings.HasPrefix(f.text, "--from-env-file") || i > 0 && has("cp") && !isOption(f) || i > 0 && strings.HasPrefix(args[i-1].text, "--from-") {
				take(f)
			}
		}
	case "ansible-playbook":
		for i, f := range args {
			if !isOption(f) && (i == 0 || !isOption(args[i-1])) {
				take(f)
			}
		}
	}
}

// quotedFiles records the credential paths in a program's own language, which is not analysed
// otherwise: the statements of a database, the commands of a client, an expression. input says that
// standard input holds such text.
func (c *walker) quotedFiles(inv invocation, name string) {
	if !ownLanguage(name) {
		return
	}
	d := c.dirOf(inv)
	texts := append([]field(nil), inv.fields[1:]...)
	if in, ok := c.feedOf(inv).static(); ok {
		texts = append(texts, in)
	}
	for _, f := range texts {
		rest := clip(f.text, maxMention)
		for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()[]{},;=<>", r) }) {
			if protected.Sensitive(word, c.opt.Home) {
				c.read(c.locate(c.snippetWord(word, f.at(0)), d), name)
			}
		}
	}
}

// ownLanguage reports whether a program's words or input are code in a language of its own that can
// open files.
func ownLanguage(name string) bool {
	switch name {
	case "sqlite3", "duckdb", "mysql", "mariadb", "psql", "cockroach", "clickhouse", "clickhouse-client", "elixir", "iex", "erl", "ghc", "ghci", "runghc", "osascript", "gimp", "m4", "terraform", "tofu", "lftp", "sftp",
		"ftp", "tftp", "smbclient", "cpio", "jshell", "scala", "groovy", "kotlin", "swift", "swipl", "ocaml", "gnuplot", "octave", "octave-cli", "maxima", "nix", "nix-instantiate", "jsonnet", "dhall", "cue", "pkl", "puppet":
		return true
	}
	return false
}
