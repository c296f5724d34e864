package quarantine

import (
	"fmt"
	"strings"
)

// A plant is what a command could leave. Its script has T, a work tree, and G,
// its git directory; E is a program that says that it ran, X a file outside of
// the tree that is not there, and H the home directory.
type plant struct {
	kind   string
	script string
	quiet  string // why nothing is seen of it with this git; "" when something must be
}

// setup and settings make a plant of configuration.
func setting1(kind, more string, settings ...string) plant {
	var b strings.Builder
	for i := 0; i+1 < len(settings); i += 2 {
		fmt.Fprintf(&b, "git config -f \"$G/config\" \"%s\" \"%s\"\n", settings[i], settings[i+1])
	}
	return plant{kind: "config " + kind, script: b.String() + more}
}

const attributes = `echo '* filter=x diff=x merge=x' > "$T/.gitattributes"; touch -d '2 days ago' "$T/f"
`

// settingPlants are settings that take a command, or a path to write to:
// git help -c, and git's source.
var settingPlants = []plant{
	setting1("core.fsmonitor", "", "core.fsmonitor", "$E"),
	setting1("core.editor", "", "core.editor", "$E"),
	setting1("core.editor known", "", "core.editor", "vim -es -u $E.vim -c q"),
	setting1("sequence.editor", "", "sequence.editor", "$E"),
	setting1("core.pager", "", "core.pager", "$E"),
	setting1("pager.log", "", "pager.log", "$E"),
	setting1("core.sshCommand", "", "core.sshCommand", "$E", "remote.ssh.url", "ssh://localhost/x"),
	setting1("core.gitProxy", "", "core.gitProxy", "$E", "remote.gitp.url", "git://localhost:1/x"),
	setting1("core.askPass", "", "core.askPass", "$E"),
	setting1("credential.helper", "", "credential.helper", "$E"),
	setting1("credential.url.helper", "", "credential.https://example.org.helper", "!$E"),
	setting1("credential.helper store", "", "credential.helper", "store --file=$X"),
	setting1("core.hooksPath", `mkdir -p "$T/hh"; for h in pre-commit post-checkout post-index-change reference-transaction; do cp "$E" "$T/hh/$h"; done`, "core.hooksPath", "$T/hh"),
	setting1("include.path", `printf '[core]\n\tfsmonitor = %s\n' "$E" > "$T/more"`, "include.path", "$T/more"),
	setting1("includeIf.path", `printf '[core]\n\tfsmonitor = %s\n' "$E" > "$T/more"`, "includeIf.gitdir:/.path", "$T/more"),
	setting1("alias", "", "alias.zz", "!$E"),
	setting1("alias by words", "", "alias.zz", "grep -O$E -e e"),
	setting1("diff.external", "", "diff.external", "$E"),
	setting1("diff.x.command", attributes, "diff.x.command", "$E"),
	setting1("diff.x.textconv", attributes, "diff.x.textconv", "$E"),
	setting1("filter.x.clean", attributes, "filter.x.clean", "$E"),
	setting1("filter.x.smudge", attributes, "filter.x.smudge", "$E"),
	setting1("filter.x.process", attributes, "filter.x.process", "$E"),
	setting1("merge.x.driver", attributes, "merge.x.driver", "$E %A"),
	setting1("merge.tool", "", "merge.tool", "x", "mergetool.x.cmd", "$E"),
	setting1("merge.tool path", "", "merge.tool", "../../../../../../../../../../../../$E"),
	setting1("diff.tool", "", "diff.tool", "x", "difftool.x.cmd", "$E"),
	setting1("difftool known path", "", "diff.tool", "meld", "difftool.meld.path", "$E"),
	{kind: "config branch.mergeOptions", script: `git config -f "$G/config" branch.main.mergeOptions "-s x"`, quiet: "the strategy must be on PATH"},
	{kind: "config interactive.diffFilter", script: `git config -f "$G/config" interactive.diffFilter "$E"`, quiet: "it needs a terminal with colours"},
	setting1("trailer.command", "", "trailer.x.command", "$E", "trailer.x.key", "X"),
	setting1("tar.command", "", "tar.x.command", "$E"),
	setting1("gpg.program", "", "gpg.program", "$E", "commit.gpgSign", "true"),
	setting1("gpg.ssh.program", "", "gpg.format", "ssh", "gpg.ssh.program", "$E", "user.signingKey", "/dev/null", "commit.gpgSign", "true"),
	setting1("gpg.ssh.defaultKeyCommand", "", "gpg.format", "ssh", "gpg.ssh.defaultKeyCommand", "$E", "commit.gpgSign", "true"),
	setting1("remote.ext", "", "remote.ext.url", "ext::$E", "protocol.ext.allow", "always"),
	setting1("remote.pushurl", "", "remote.ext.url", "$T", "remote.ext.pushurl", "ext::$E", "protocol.allow", "always"),
	setting1("url.insteadOf", "", "url.ext::$E .insteadOf", "zz:", "remote.zz.url", "zz:x", "protocol.ext.allow", "always"),
	setting1("remote.uploadpack", "", "remote.up.url", "$T", "remote.up.uploadpack", "$E"),
	setting1("remote.receivepack", "", "remote.up.url", "$T", "remote.up.receivepack", "$E"),
	setting1("core.alternateRefsCommand", `mkdir -p "$G/objects/info"; echo "$W/upstream.git/objects" > "$G/objects/info/alternates"`, "core.alternateRefsCommand", "$E", "remote.alt.url", "$T"),
	setting1("submodule.update", `git -C "$T" config -f .gitmodules submodule.s.path s; git -C "$T" config -f .gitmodules submodule.s.url "$W/upstream.git"; git -C "$T" update-index --add --cacheinfo "160000,$(git --git-dir="$W/upstream.git" rev-parse main~1),s"; mkdir -p "$T/s"; git -C "$T" add .gitmodules; git -C "$T" commit -qm s`, "submodule.s.update", "!$E", "submodule.s.url", "$W/upstream.git"),
	setting1("man.viewer", "", "man.viewer", "x", "man.x.cmd", "$E"),
	setting1("web.browser", "", "web.browser", "x", "browser.x.cmd", "$E"),
	setting1("imap.tunnel", "", "imap.tunnel", "$E", "imap.folder", "x", "imap.host", "imap://x"),
	setting1("format.outputDirectory", "", "format.outputDirectory", "$X"),
	setting1("core.worktree", `rm -f "$G/index"`, "core.worktree", "$H"),
	setting1("worktree config", `printf '[core]\n\tfsmonitor = %s\n' "$E" > "$G/config.worktree"`, "extensions.worktreeConfig", "true"),
	{kind: "config line that goes on", script: `printf '[core]\n\tfsmonitor = /dev\\\n/../%s\n' "$E" >> "$G/config"`},
	{kind: "config carriage return", script: `printf '[core]\r\n\tfsmonitor = %s\r\n' "$E" >> "$G/config"`},
	{kind: "config on one line", script: `printf '[core]fsmonitor=%s\n' "$E" >> "$G/config"`},
	{kind: "config after a NUL", script: `printf '[core]\n\tx = a\0b\n\tfsmonitor = %s\n' "$E" >> "$G/config"`},
	{kind: "config sub-section without quotes", script: `printf '[Filter.x]\n\tclean = %s\n' "$E" >> "$G/config"; ` + attributes},
	{kind: "config link", script: `cp "$G/config" "$T/cc"; git config -f "$T/cc" core.fsmonitor "$E"; rm "$G/config"; ln -s "$T/cc" "$G/config"`},
	{kind: "config set-ID", script: `git config -f "$G/config" core.fsmonitor "$E"; chmod 2755 "$G/config"`},
	{kind: "config unreadable later", script: `git config -f "$G/config" core.fsmonitor "$E"; chmod 400 "$G/config"; chmod 555 "$G"`},
	{kind: "second repository format", script: `git config -f "$G/config" core.fsmonitor "$E"; git config -f "$G/config" core.repositoryFormatVersion 1`},
}

// hookNames are githooks(5), those that the victim's commands run.
var hookNames = []string{"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge",
	"pre-push", "post-rewrite", "reference-transaction", "pre-auto-gc", "post-index-change"}

func hookPlants() (list []plant) {
	for _, name := range hookNames {
		p := plant{kind: "hook " + name, script: `mkdir -p "$G/hooks"; cp "$E" "$G/hooks/` + name + `"`}
		if name == "pre-auto-gc" {
			p.quiet = "it needs thousands of objects"
		}
		list = append(list, p)
	}
	return append(list,
		plant{kind: "hook link", script: `mkdir -p "$G/hooks"; ln -s "$E" "$G/hooks/pre-commit"`},
		plant{kind: "hook with a link to a shell", script: `mkdir -p "$G/hooks"; rm -f "$G/hooks/commit-msg"; ln -s /bin/sh "$G/hooks/commit-msg"; printf ': > "%s"\n' "$X" > "$G/COMMIT_EDITMSG"; printf '%s\n' "$E" > "$T/f"`, quiet: "the message is the victim's"},
		plant{kind: "hooks link", script: `mkdir -p "$T/h2"; cp "$E" "$T/h2/pre-commit"; rm -rf "$G/hooks"; ln -s "$T/h2" "$G/hooks"`},
		plant{kind: "hooks link outside", script: `rm -rf "$G/hooks"; mkdir -p "$T/h2"; cp "$E" "$T/h2/post-commit"; ln -s "$T" "$T/hop"; ln -s "$T/hop/h2" "$G/hooks"`},
	)
}

// writes are the files and directories that git writes to.
var writes = []string{"logs/HEAD", "logs/refs/heads/main", "COMMIT_EDITMSG", "index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "packed-refs", "refs/heads/main", "config", "shallow", "gc.log", "MERGE_MSG", "MERGE_HEAD",
	"MERGE_MODE", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG", "EDIT_DESCRIPTION", "info/refs", "info/sparse-checkout", "objects/info/packs", "objects/info/commit-graph", "rr-cache", "MERGE_RR", "AUTO_MERGE", "REBASE_HEAD", "BISECT_LOG",
	"CHERRY_PICK_HEAD", "logs", "refs/heads", "refs/tags", "objects/pack", "objects/info", "worktrees", "rebase-merge", "sequencer", "logs/refs", "refs/stash", "logs/refs/stash", "info", "modules", "gc.pid", "lost-found", "description"}

// seen are those through which this git writes, or which it follows to write.
var seenWrites = []string{"logs/HEAD", "logs/refs/heads/main", "COMMIT_EDITMSG", "index", "logs", "refs/heads", "refs/tags", "objects/pack", "logs/refs", "rr-cache", "TAG_EDITMSG", "MERGE_MSG", "packed-refs", "FETCH_HEAD"}

func linkPlants() (list []plant) {
	for _, name := range writes {
		dir := !strings.Contains(name, "_") && strings.ToLower(name) == name && !strings.Contains("logs/refs/heads/main index packed-refs config shallow gc.log info/refs info/sparse-checkout objects/info/packs objects/info/commit-graph refs/heads/main refs/stash logs/refs/stash gc.pid description", name)
		p := plant{kind: "link " + name, script: fmt.Sprintf(`mkdir -p "$G/%[1]s"; rmdir "$G/%[1]s" 2>/dev/null || mv "$G/%[1]s" "$T/was"
			[ ! -d "$T/was" ] || %[2]s
			[ ! -f "$T/was" ] || cp "$T/was" "$X"
			ln -s "$X" "$G/%[1]s"`, name, `cp -r "$T/was" "$X"`)}
		if dir {
			p.script += "\n[ -e \"$X\" ] || mkdir \"$X\""
		}
		p.quiet = "git replaces it"
		for _, s := range seenWrites {
			if s == name {
				p.quiet = ""
			}
		}
		if strings.Contains("refs/heads objects/pack rr-cache packed-refs MERGE_MSG FETCH_HEAD TAG_EDITMSG refs/tags", name) {
			p.quiet = "it depends on what else is there"
		}
		list = append(list, p)
	}
	return list
}

// indexScript writes an index by hand: version, mode, path.
const indexScript = `python3 - "$G" '%s' <<'P'
import sys, struct, hashlib, subprocess
g, path = sys.argv[1], sys.argv[2].encode().decode('unicode_escape').encode('latin1')
fmt = 'sha1'
try: fmt = subprocess.run(['git','config','-f',g+'/config','extensions.objectFormat'],capture_output=True,text=True).stdout.strip() or 'sha1'
except Exception: pass
blob = b'evil\n'
oid = subprocess.run(['git','--git-dir='+g,'hash-object','-w','--stdin'],input=blob,capture_output=True).stdout.decode().strip()
e = b'\0'*24 + struct.pack('>I', %s) + b'\0'*12 + bytes.fromhex(oid) + struct.pack('>H', min(len(path),0xfff)) + path
e += b'\0'*(8-len(e)%%8)
d = b'DIRC'+struct.pack('>II',2,1)+e
d += hashlib.new(fmt,d).digest()
open(g+'/index','wb').write(d)
P
`

// statePlants are files by which git goes on with what was begun.
var statePlants = []plant{
	{kind: "rebase exec", script: rebaseState + `printf 'exec %s\n' "$E" > "$G/rebase-merge/git-rebase-todo"`},
	{kind: "rebase x", script: rebaseState + `printf '  x\t%s\n' "$E" > "$G/rebase-merge/git-rebase-todo"`},
	{kind: "rebase strategy", script: rebaseState + `printf 'pick %s\n' "$(git --git-dir="$G" rev-parse other)" > "$G/rebase-merge/git-rebase-todo"; cp "$E" "$T/git-merge-x"; echo "x/../..$E" > "$G/rebase-merge/strategy"; mkdir -p "$T/git-merge-x.d"`, quiet: "the directory git-merge-x must be beside git's own"},
	{kind: "am apply-opt", script: `r="$G/rebase-apply"; mkdir -p "$r"; cd "$T"; git format-patch -q -1 --stdout other > "$r/0001" 2>/dev/null || :; cp "$r/0001" "$r/patch"; echo 1 > "$r/next"; echo 1 > "$r/last"; : > "$r/applying"; for f in threeway quiet sign utf8 keep scissors; do echo f > "$r/$f"; done; printf "GIT_AUTHOR_NAME='a'\nGIT_AUTHOR_EMAIL='a'\nGIT_AUTHOR_DATE='@1 +0000'\n" > "$r/author-script"; echo m > "$r/final-commit"; printf "'--build-fake-ancestor=%s'" "$X" > "$r/apply-opt"; git --git-dir="$G" rev-parse HEAD > "$r/abort-safety"`, quiet: "git am --retry alone reads it"},
	{kind: "sequencer strategy", script: `mkdir -p "$G/sequencer"; git --git-dir="$G" rev-parse HEAD > "$G/sequencer/head"; printf 'pick %s x\n' "$(git --git-dir="$G" rev-parse other)" > "$G/sequencer/todo"; printf '[options]\n\tstrategy = x\n' > "$G/sequencer/opts"`, quiet: "the strategy must be on PATH"},
	{kind: "bisect names", script: `echo "HEAD" > "$G/BISECT_START"; echo "'f'; $E" > "$G/BISECT_NAMES"; printf 'bad\ngood\n' > "$G/BISECT_TERMS"`, quiet: "only git before 2.37 gave it to a shell"},
	{kind: "MERGE_RR", script: `git config -f "$G/config" rerere.enabled true; git config -f "$G/config" rerere.autoUpdate false
		h=$(git --git-dir="$G" rev-parse HEAD); mkdir -p "$G/rr-cache"; rel=$(python3 -c 'import os,sys; print(os.path.relpath(sys.argv[1],sys.argv[2]))' "$X" "$T")
		printf '<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n' > "$X"; printf '%s\t%s\0' "$h" "$rel" > "$G/MERGE_RR"
		mkdir -p "$G/rr-cache/$h"; printf '<<<<<<<\n1\n=======\n2\n>>>>>>>\n' > "$G/rr-cache/$h/preimage"; printf 'evil\n' > "$G/rr-cache/$h/postimage"`, quiet: "it needs the conflict in the index"},
	{kind: "remotes", script: `mkdir -p "$G/remotes"; printf 'URL: ext::%s\nPull: refs/heads/*:refs/x/*\n' "$E" > "$G/remotes/leg"; git config -f "$G/config" protocol.ext.allow always`},
	{kind: "branches", script: `mkdir -p "$G/branches"; printf 'ext::%s\n' "$E" > "$G/branches/leg"; git config -f "$G/config" protocol.ext.allow always`},
	{kind: "worktree gitdir", script: `mkdir -p "$X.d" "$G/worktrees/x"; cp "$G/HEAD" "$G/worktrees/x/HEAD"; echo ../.. > "$G/worktrees/x/commondir"; echo "$X.d/.git" > "$G/worktrees/x/gitdir"`},
	{kind: "module", script: `mkdir -p "$G/modules/a/b"; git init -q --bare "$G/modules/a/b/m"; git config -f "$G/modules/a/b/m/config" core.bare false; git config -f "$G/modules/a/b/m/config" core.fsmonitor "$E"; mkdir -p "$T/mm"; echo "gitdir: $G/modules/a/b/m" > "$T/mm/.git"`},
	{kind: "index path outside", script: fmt.Sprintf(indexScript, "../out-of", "0o100644"), quiet: "git's own check refuses it on checkout of some versions"},
	{kind: "index path .git", script: `cd "$T"; ` + fmt.Sprintf(indexScript, ".git/hooks/pre-commit", "0o100755"), quiet: "git's own check refuses it on checkout of some versions"},
	{kind: "index mode", script: `n="$T/node_modules/n"; git init -q "$n"; git -C "$n" commit -q --allow-empty -m x; git config -f "$n/.git/config" core.fsmonitor "$E"; ` + fmt.Sprintf(indexScript, "node_modules/n", "0o160755")},
	{kind: "FIFO", script: `rm -f "$G/info/exclude"; mkdir -p "$G/info"; mkfifo "$G/index.lock"`, quiet: "nothing runs"},
}

const rebaseState = `mkdir -p "$G/rebase-merge"; git --git-dir="$G" rev-parse HEAD | tee "$G/rebase-merge/onto" > "$G/rebase-merge/orig-head"; echo refs/heads/main > "$G/rebase-merge/head-name"; : > "$G/rebase-merge/interactive"
`

// A place is where a plant is put: its script sets T and G, and makes them.
type ground struct{ kind, script string }

// existing are repositories that were there, fresh are such that come to be.
var existing = []ground{
	{"top", `T=$W; G=$W/.git`},
	{"nested", `T=$W/nested/a/b/c/d/repo; G=$T/.git`},
	{"submodule", `T=$W/sub; G=$W/.git/modules/sub`},
	{"linked", `T=$W/wt; G=$W/.git/worktrees/wt`},
	{"separate", `T=$W/sep; G=$W/store`},
}

const fresh = `[ -d "$T/f" ] || { git clone -q "$W/upstream.git" "$T"; git -C "$T" branch -q other origin/other 2>/dev/null || :; }; G=$T/.git; `

var places = []ground{
	{"new", `T=$W/new-$N; ` + fresh},
	{"new below node_modules", `T=$W/node_modules/p/new-$N; ` + fresh},
	{"new below target", `T=$W/target/.venv/new-$N; ` + fresh},
	{"new and deep", `T=$W/a/b/c/d/e/f/g/h/i/j/new-$N; ` + fresh},
	{"moved", `T=$W/new-$N; ` + fresh + `mkdir -p "$W/to-$N"; mv "$T/.git" "$W/to-$N/.git"; cp -r "$T/." "$W/to-$N"; T=$W/to-$N; G=$T/.git`},
	{"by file", `T=$W/new-$N; ` + fresh + `mv "$G" "$T/../g-$N"; echo "gitdir: ../g-$N" > "$T/.git"; G=$W/g-$N`},
	{"by padded file", `T=$W/new-$N; ` + fresh + `mv "$G" "$W/g-$N"; { echo "gitdir: ../g-$N"; printf %20000s | tr ' ' '\n'; } > "$T/.git"; G=$W/g-$N`},
	{"by hop", `T=$W/new-$N; ` + fresh + `mkdir -p "$W/x-$N/y"; ln -s x-$N/y "$W/hop-$N"; mv "$G" "$W/x-$N/g"; echo "gitdir: ../hop-$N/../g" > "$T/.git"; G=$W/x-$N/g`},
	{"by NUL", `T=$W/new-$N; ` + fresh + `mv "$G" "$W/g-$N"; printf 'gitdir: ../g-%s\0x' $N > "$T/.git"; G=$W/g-$N`},
	{"by link", `T=$W/new-$N; ` + fresh + `mv "$G" "$W/g-$N"; ln -s "../g-$N" "$T/.git"; G=$W/g-$N`},
	{"by commondir", `T=$W/new-$N; ` + fresh + `mkdir "$T/g"; mv "$G" "$W/c-$N"; mv "$T/g" "$G"; cp "$W/c-$N/HEAD" "$G/HEAD"; cp "$W/c-$N/index" "$G/"; rm "$W/c-$N/HEAD"; echo "../../c-$N" > "$G/commondir"; G=$W/c-$N`},
	{"bare", `T=$W/bare-$N; [ -d "$T" ] || git clone -q --bare "$W/upstream.git" "$T"; git config -f "$T/config" core.bare false; git config -f "$T/config" core.worktree "$T"; git --git-dir="$T" reset -q --hard 2>/dev/null || :; G=$T`},
	{"closed", `mkdir -p "$W/c-$N"; T=$W/c-$N/new-$N; ` + fresh},
}

// treesOf are where the work trees are afterwards.
var treesOf = map[string]string{
	"top": `T=$W`, "nested": `T=$W/nested/a/b/c/d/repo`, "submodule": `T=$W/sub`, "linked": `T=$W/wt`, "separate": `T=$W/sep`,
	"new": `T=$W/new-$N`, "new below node_modules": `T=$W/node_modules/p/new-$N`, "new below target": `T=$W/target/.venv/new-$N`, "new and deep": `T=$W/a/b/c/d/e/f/g/h/i/j/new-$N`,
	"moved": `T=$W/to-$N`, "by file": `T=$W/new-$N`, "by padded file": `T=$W/new-$N`, "by hop": `T=$W/new-$N`, "by NUL": `T=$W/new-$N`, "by link": `T=$W/new-$N`, "by commondir": `T=$W/new-$N`,
	"bare": `T=$W/bare-$N`, "closed": `T=$W/c-$N/new-$N`,
}
