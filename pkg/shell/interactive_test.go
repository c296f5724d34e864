package shell

import (
	"strings"
	"testing"
)

// interactiveScripts run what their caller types after they have begun.
var interactiveScripts = []string{
	"bash", "sh -i", "zsh", "bash -l", "/bin/bash --norc", "bash -s a b", "exec bash", "env -i bash", "sudo -s", "sudo -i", "sudo bash", "su", "su - root",
	"nohup bash", "cd /tmp && bash", "true; sh", "if true; then bash; fi", "f() { bash; }; f", "bash -c 'exec sh'", "bash -c bash", "busybox sh", "timeout 60 bash",
	"unshare -r", "chroot /mnt", "b\\ash", "X=bash; $X", "command bash", "fish", "pwsh",
	"bash /dev/stdin", "bash < /dev/stdin", "bash < /dev/tty", "bash /dev/tty", "source /dev/stdin", ". /dev/tty", "bash <&0", "bash <&1", "bash < /proc/self/fd/0",
	"bash <> /dev/tty", "cat | bash", "cat - | bash", "cat /dev/tty | sh", "tee log | bash", "sed s/a/b/ | sh", "cat | tee log | bash", "{ cat; } | bash", "(cat) | sh",
	"cat | python3", "xargs -I{} sh -c '{}'", "xargs rm -rf", "cat | xargs rm", "parallel", "parallel -j2",
	"python3", "python3 -q", "python3 -i x.py", "python3 -qi x.py", "python3 -", "python -m pdb x.py", "python3 -m code", "ipython", "node", "node -i", "node --interactive",
	"perl", "perl -de1", "ruby", "irb", "php -a", "lua", "lua -i x.lua", "R", "julia", "deno", "deno repl", "ghci", "iex", "gdb ./a.out", "python3 /dev/stdin", "tclsh", "octave",
	"script", "script -q", "script -q log", "tmux", "tmux attach", "tmux new -s x", "screen", "screen -r x", "ssh host", "ssh -p 22 host", "ssh -o A=b localhost bash", "mosh host",
	"docker run -it alpine", "docker run -it --name x -v /:/host alpine", "docker run --rm -it alpine sh", "docker run -it --unknown x alpine python3", "docker exec -it web bash", "kubectl exec -it pod -- sh", "nix-shell", "nix develop", "poetry shell", "rails console",
	"psql", "psql -h db app", "mysql app", "sqlite3 data.db", "mongosh", "vim notes.txt", "vi", "nano x", "emacs x", "less README.md", "ed x", "sftp host",
	"read x; $x", "read -r x; eval \"$x\"", "while read -r l; do $l; done", "mapfile -n 1 a; bash -c \"${a[0]}\"", "./ethos-sandbox run -- bash", "/tmp/ethos-sandbox shell -c bash",
}

// batchScripts run nothing that is typed later.
var batchScripts = []string{
	"bash build.sh", "bash -c 'ls'", "bash < script.sh", "bash </dev/null", "bash <&-", "sh -c 'make test' </dev/null", "cat script.sh | bash", "echo ls | bash", "bash <<'EOF'\nls\nEOF",
	"bash <<< ls", "bash --version", "sh --help", "sudo -u me make", "su -c make me", "env CI=1 make", "bash -n x.sh", "bash -x ./run.sh a",
	"python3 x.py", "python3 -c 'print(1)'", "python3 -m pytest", "python3 -m http.server", "python3 --version", "python3 -V", "python3 - <<'EOF'\nprint(1)\nEOF", "echo 1 | python3", "python3 </dev/null",
	"python3 -u x.py -i", "node index.js", "node -v", "node -e 1", "node -p 1", "perl -v", "perl -ne print x", "ruby -v", "php -v", "php -m", "php artisan test", "lua -v", "make", "ninja", "deno test",
	"awk '{print}' x", "awk '{print}'", "gdb -batch -ex bt ./a.out core", "Rscript x.R", "R CMD check .", "go run .", "cargo run", "npm test",
	"script -c 'make test' log", "tmux ls", "tmux kill-session -t x", "tmux send-keys -t x ls Enter", "screen -ls", "screen -dmS x make", "ssh host uptime", "ssh -V", "ssh -N host", "ssh-keygen -l -f x",
	"docker run --rm alpine ls", "docker exec web ls", "docker exec -it web ls -l", "docker run -it --name x alpine npm test", "docker ps -a", "docker compose up -d", "kubectl get pods", "kubectl logs -f pod", "nix-shell --run make", "nix build", "poetry install", "rails test",
	"psql -c 'select 1'", "psql < dump.sql", "mysql -e 'select 1'", "sqlite3 data.db 'select 1'", "sqlite3 data.db < x.sql", "vim -es -c '%s/a/b/' -c wq x", "emacs --batch x", "git log | less", "less x | cat", "man ls", "docker exec -it web sh -c 'ls -l'", "docker run -it alpine python3 x.py", "ssh host bash build.sh", "parallel gzip ::: *.log",
	"read -r x < file; echo \"$x\"", "read -r x; echo \"$x\"", "while read -r l; do $l; done < commands", "ls | while read -r f; do \"$CMD\" \"$f\"; done", "find . | xargs rm", "xargs -a list rm", "ls | xargs -n1 echo",
	"parallel echo ::: a b", "ls | parallel gzip", "source .venv/bin/activate", ". ./env.sh", "cat", "cat README.md", "grep -r bash .", "echo bash", "which python3", "git commit -m 'bash'",
	"ethos-sandbox run -- bash", "ethos-sandbox shell -c bash", "ethos-sandbox shell -c 'read x; $x'",
}

func TestInteractive(t *testing.T) {
	for want, scripts := range map[bool][]string{true: interactiveScripts, false: batchScripts} {
		for _, script := range scripts {
			if got := interactiveIn(Analyze(script, caseOptions)); (got != "") != want {
				t.Errorf("%s: interactive: %q, wanted %v", script, got, want)
			}
		}
	}
}

// TestInteractiveArgv is of a command that is started without a shell.
func TestInteractiveArgv(t *testing.T) {
	for script, want := range map[string]bool{"bash": true, "python3 -q": true, "python3 x.py": false, "ls": false, "bash -c ls": false} {
		if got := interactiveIn(AnalyzeArgv(strings.Fields(script), caseOptions)); (got != "") != want {
			t.Errorf("%s: interactive: %q, wanted %v", script, got, want)
		}
	}
}

// interactiveIn is the first command that is interactive, "" without one.
func interactiveIn(a Analysis) string {
	for _, c := range a.Shell.Commands {
		if c.Interactive {
			return c.Raw
		}
	}
	return ""
}
