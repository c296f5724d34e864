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
	name   string
	runs   string // options whose value is code for a shell
	writes string // options whose value is a file that is written
	reads  string // options whose value is a file that is read, and shown or sent
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
	{name: "aria2c", writes: "o out d dir l log", runs: "on-download-complete on-download-error on-download-start on-download-stop on-bt-download-complete", reads: "i input-file"},
	{name: "bazel", runs: "run_under"},
	{name: "bazelisk", runs: "run_under"},
	{name: "bison", writes: "o output"},
	{name: "c++", runs: "wrapper"},
	{name: "cargo", runs: "s shell"}, // of cargo watch
	{name: "cc", runs: "wrapper"},
	{name: "clang", runs: "wrapper"},
	{name: "clang++", runs: "wrapper"},
	{name: "convert", target: "last"},
	{name: "cpio", writes: "O", reads: "I F"},
	{name: "crudini", target: "first", when: "--set --del --merge"},
	{name: "dasel", target: "all", when: "put"},
	{name: "dos2unix", target: "all"},
	{name: "dpkg", runs: "pre-invoke post-invoke"},
	{name: "dump", writes: "f"},
	{name: "ffmpeg", target: "last"},
	{name: "flex", writes: "o outfile"},
	{name: "fzf", runs: "preview"},
	{name: "g++", runs: "wrapper"},
	{name: "gcc", runs: "wrapper"},
	{name: "go", runs: "exec toolexec vettool"},
	{name: "gotestsum", runs: "post-run-command"},
	{name: "gpg", runs: "agent-program dirmngr-program photo-viewer pinentry-program"},
	{name: "gpg2", runs: "agent-program dirmngr-program photo-viewer pinentry-program"},
	{name: "helm", runs: "post-renderer"},
	{name: "helmfile", runs: "b helm-binary"},
	{name: "java", runs: "XX:OnError XX:OnOutOfMemoryError"},
	{name: "latexmk", runs: "pdflatex latex xelatex lualatex"},
	{name: "lynx", runs: "editor"},
	{name: "lz4", target: "last"},
	{name: "mac2unix", target: "all"},
	{name: "magick", target: "last"},
	{name: "man", runs: "P pager H html"},
	{name: "mariadb", runs: "pager"},
	{name: "meson", runs: "wrap wrapper"},
	{name: "mongodump", writes: "o out archive"},
	{name: "mongoexport", writes: "o out"},
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
	{name: "nmap", writes: "oN oX oG oA oS", reads: "iL excludefile"},
	{name: "objcopy", target: "last"},
	{name: "openvpn", runs: "up down route-up ipchange tls-verify learn-address client-connect client-disconnect auth-user-pass-verify", writes: "log log-append status writepid", reads: "config"},
	{name: "pandoc", runs: "filter F pdf-engine"},
	{name: "pg_dump", writes: "f file"},
	{name: "pg_dumpall", writes: "f file"},
	{name: "pico", runs: "s"},
	{name: "rage", writes: "o output"},
	{name: "rar", target: "second", when: "a u m d"},
	{name: "restic", writes: "target t", reads: "files-from"},
	{name: "rustdoc", runs: "test-runtool runtool"},
	{name: "sd", target: "third"},
	{name: "strip", writes: "o"},
	{name: "tcpdump", runs: "z", writes: "w", reads: "r F V"},
	{name: "terragrunt", runs: "terragrunt-tfpath tf-path"},
	{name: "tic", writes: "o"},
	{name: "tshark", writes: "w", reads: "r"},
	{name: "unix2dos", target: "all"},
	{name: "uudecode", writes: "o output-file"},
	{name: "wget", runs: "use-askpass"},
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
		value := f
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
		switch {
		case option == "wrapper" && slices.Contains(strings.Fields(w.runs), option): // words separated by commas
			in := inv
			in.fields, in.noFunc, in.noShell = nil, true, true
			for at, word := range byComma(value.text) {
				part := value.from(at)
				part.text = word
				in.fields = append(in.fields, part)
			}
			do.dispatch(in)
		case slices.Contains(strings.Fields(w.runs), option) && value.text != "":
			do.shellCode(value, do.by+" -"+option, &positional{dyn: true}, inv)
		case slices.Contains(strings.Fields(w.writes), option) && value.text != "-":
			do.writeOne(value, opWrite)
		case slices.Contains(strings.Fields(w.reads), option):
			do.readOne(value)
		}
	}
	if found {
		do.written(w.target, args, operands)
	}
}

// attaches reports whether a word is a short option that runs code, with its value attached: -P./x.
func (w *wordEffect) attaches(word string) bool {
	if len(word) < 3 || word[1] == '-' || word[2] == '=' || !slices.Contains(strings.Fields(w.runs), word[1:2]) {
		return false
	}
	name, _, _ := strings.Cut(word[1:], "=")
	return !slices.Contains(strings.Fields(w.runs+" "+w.writes+" "+w.reads), name)
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
