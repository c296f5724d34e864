package shell

// idioms are scripts of the kind that people and agents write, with recorders for programs so that they are safe to run.
var idioms = []string{
	// argument loops
	`set -- -v --name x y z
verbose=; name=
while [ $# -gt 0 ]; do
  case $1 in
    -v) verbose=1; shift;;
    --name) name=$2; shift 2;;
    --) shift; break;;
    *) break;;
  esac
done
make ${verbose:+VERBOSE=1} "$name" "$@"`,
	`args=()
for a in one "two three" four; do args+=("--$a"); done
curl "${args[@]}" "${#args[@]}" "${args[0]}" "${args[@]:1}"`,
	`usage() { foo usage "$0" >&2; }
main() { if [ $# -eq 0 ]; then usage; return 1; fi; make "$@"; }
main build test || main`,
	`while getopts ab:c opt -a -b val; do case $opt in a) foo a;; b) foo b "$OPTARG";; esac; done`,
	// error handling
	`set -euo pipefail
cleanup() { rm -f "$tmp"; }
trap cleanup EXIT
tmp=sub/tmp.$$
make > "$tmp"
git add -A`,
	`die() { bar "$*"; exit 1; }
make || die "make failed: $?"
git push`,
	`if ! make test; then git stash; else git commit -m "it's done"; fi`,
	`set -e; (cd sub && make) || { rm x; exit 1; }; ls`,
	`trap 'rm -f a; trap - EXIT; exit' INT TERM EXIT
make`,
	`retry() { local n=0; until "$@"; do n=$((n+1)); [ $n -ge 3 ] && return 1; done; }
retry make a
retry false || foo "gave up"`,
	// loops over files and lines
	`for f in *.txt; do [ -e "$f" ] || continue; mv "$f" "${f%.txt}.md"; done`,
	`while IFS= read -r line; do foo "$line"; done < a`,
	`while read -r first rest; do foo "$first" "$rest"; done <<EOF
one two three
four
EOF`,
	`printf '%s\n' a b c | while read -r x; do git add "$x"; done`,
	`for i in {1..3}; do for j in a b; do foo $i$j; done; done`,
	`for ((i = 0; i < 3; i++)); do foo "$i"; done`,
	`i=0; while (( i < 2 )); do foo $((i++)); done; bar $i`,
	`for dir in sub; do ( cd "$dir" && make ); done; pushd sub > /dev/null; ls; popd > /dev/null`,
	`for name in a b; do eval "val_$name=\$name"; eval "foo \"\$val_$name\""; done`,
	// here-documents and generated code
	`cat > gen.txt <<'EOF'
rm -rf $HOME
EOF
ls gen.txt`,
	`name=world
bash <<EOF
foo "hello $name"
bar \$HOME
EOF`,
	`git commit -F - <<-'EOF'
	fix: a thing

	curl x | sh
	EOF`,
	`bash -s -- one two <<'EOF'
foo "$1" "$2" "$#"
EOF`,
	`sh <<< 'foo herestring'; bash -c 'foo "$0" "$@"' zero one two`,
	`python_like() { cat; }; python_like <<'E' | bash
foo generated
E`,
	`echo 'foo one; bar two' | bash; printf 'foo %s\n' x y | sh`,
	`source <(printf 'f() { foo sourced "$@"; }\n'); f arg`,
	`eval "$(printf 'foo %s; ' a b)"`,
	// functions
	`log() { printf '%s\n' "$*" >&2; }
run() { log "+ $*"; "$@"; }
run git status
run make -j4 "a b"`,
	`git() { command git --no-pager "$@"; }
git log`,
	`f() { local x=$1; shift; foo "$x" "$@"; }
f a b c; f "a b"`,
	`outer() { inner() { bar in "$1"; }; inner "$1"; }; outer 1; inner 2`,
	`fact() { [ "$1" -le 1 ] || { foo $1; fact $(($1 - 1)); }; }; fact 3`,
	`ls() { foo wrapped "$@"; }; ls -a; command ls -b; \ls -c; "ls" -d`,
	`a() { b "$@"; }; b() { c "$@"; }; c() { make "$@"; }; a x y`,
	// wrappers
	`env A=1 B="two words" make; env -u A -i PATH="$PATH" LOG="$LOG" make; nice -n 5 timeout 10 make`,
	`printf 'a\nb\n' | xargs -n 1 foo; printf 'a b' | xargs foo x; printf 'a\nb\n' | xargs -I{} foo '{}' '[{}]'`,
	`printf 'a\0b c\0' | xargs -0 foo; echo a | xargs sh -c 'foo "$@" tail' _`,
	`nohup make > out 2>&1 & wait; setsid -w make two; exec make three`,
	`time make; ! make; command make; builtin echo no; stdbuf -oL make`,
	`env -S 'foo "a b" c' d; env bash -c 'foo nested'; timeout -k 1 5 env X=y bash -c 'foo $X'`,
	// variables
	`CMD="git commit"; $CMD -m "msg"; OPTS='-a -b'; foo $OPTS "$OPTS"`,
	`bin=foo; "$bin" a; ${bin} b; x=${bin:-bar}; $x c; y=${unset_one:-bar}; $y d`,
	`path=/a/b/c.tar.gz; foo "${path##*/}" "${path%.*}" "${path%%.*}" "${path#*/}" "${path/b/B}" "${path:2:3}" "${#path}"`,
	`declare -A m=([k]=v); foo "${m[k]}"; declare -a l=(x y); foo "${l[@]}"; export E=1; readonly R=2; foo $E $R`,
	`IFS=: read -r p q <<< "one:two"; foo "$p" "$q"; IFS=,; set -- $(echo a,b); foo "$@"; unset IFS`,
	`x=1; x=2 foo $x; foo $x; { x=3; }; foo $x; (x=4); foo $x; x=5 | foo $x; foo $x`,
	`a='*'; foo "$a" $a; b=\$HOME; foo "$b"; c="$(echo "a  b")"; foo $c "$c"`,
	`shopt -s nullglob extglob; files=(*.nothing); foo "${#files[@]}" "${files[@]}"
foo !(a|b)`,
	`p=$(command -v foo); basename_of() { foo "${1##*/}"; }; basename_of "x/y"; d=$(dirname a/b/c); foo "$d"`,
	// control flow
	`case "$(echo yes)" in [Yy]*) foo y;; *) foo n;; esac; case x in a|x) foo ax;& b) foo b;; esac`,
	`[[ abc == a* && -f a ]] && foo match || foo none; [[ x =~ ^x$ ]] && foo regex; [ -d sub ] && foo dir`,
	`true && foo 1 || foo 2; false && foo 3 || foo 4; false || true && foo 5; { false; foo 6; } && foo 7`,
	`if [ -f nothing ]; then foo 1; elif [ -f a ]; then foo 2; else foo 3; fi; until true; do foo never; done; foo 4`,
	`each() { for o in x y; do foo "$o"; break; done; }; each; (foo sub; exit 3) || foo $?`,
	`{ foo a; foo b; } | { while read -r l; do :; done; bar c; }; foo d |& bar e; foo f 2>&1 | bar g > out`,
	`show() { foo "$(< a)"; }; show <(ls x) >(cat >/dev/null); foo <(ls y) > /dev/null; coproc foo z; wait`,
	`alias nope=foo; nope 2>/dev/null; shopt -s expand_aliases
alias al='foo aliased'
al one
al two | bar`,
	`f=foo; for g in $f bar; do $g x; "$g" y; done; set -- foo bar; for h; do $h z; done`,
	`exec 3> fd3; foo >&3; exec 3>&-; exec 4< a; read -r l <&4; foo "$l"; exec 4<&-; foo {p,q}{1,2} pre{,fix}`,
	`umask 022; ulimit -c 0; cd sub && foo "$PWD" "$OLDPWD"; cd - > /dev/null; foo "$PWD"; cd; foo ~ ~/x`,
}
