package shell

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// TestWritesAgainstFileSystem runs real utilities in a scratch directory and compares what changed there with the
// writes in the facts: each path that changed must be covered by one.
func TestWritesAgainstFileSystem(t *testing.T) {
	shorttest.Long(t)
	probetest.Need(t, "command:bash")
	for _, command := range fileCommands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			checkWrites(t, command)
		})
	}
}

func checkWrites(t *testing.T, command string) {
	dir := scratch(t)
	before := snapshot(t, dir)
	cmd := exec.Command("bash", "--norc", "-c", command)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	asNobody(cmd)
	err := cmd.Run()
	if err != nil && strings.Contains(stderr.String(), "command not found") {
		return // this machine lacks the utility: nothing to compare
	}
	facts := Analyze(command, Options{Cwd: dir, Workspace: dir, Home: dir})
	changed := 0
	for p, change := range differences(before, snapshot(t, dir)) {
		changed++
		if !slices.ContainsFunc(facts.Shell.Writes, func(u record.PathUse) bool { return !u.Certain || covered(u.Path, p, change) }) {
			t.Errorf("%s was %s; writes: %v", p, change, facts.Shell.Writes)
		}
	}
	if changed == 0 && len(facts.Shell.Writes) > 0 && err == nil && !strings.Contains(command, "#same") {
		t.Errorf("nothing changed; writes: %v", facts.Shell.Writes)
	}
}

// covered reports whether a write to written explains a change of p: the same path, one below it, a match, or a
// directory made on the way to it.
func covered(written, p, change string) bool {
	if written == "." || written == p || strings.HasPrefix(p, written+"/") {
		return true
	}
	if change == "created directory" && strings.HasPrefix(written, p+"/") {
		return true
	}
	if rest, ok := strings.CutPrefix(written, "**/"); ok {
		written, p = rest, path.Base(p)
	}
	ok, err := path.Match(written, p)
	return err == nil && ok
}

func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shell-files")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, d := range []string{".", "sub", "sub/deep", "empty", "-dash"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range scratchFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(filepath.Join(dir, name), nobody(), -1); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var scratchFiles = map[string]string{
	"a": "one\ntwo\n", "b": "three\n", "c.go": "package c\n", "sp ace": "x\n", "sub/f": "f\n", "sub/deep/g": "g\n", "-f": "dash\n",
	"old.txt": "one\n", "d.patch": "--- old.txt\n+++ old.txt\n@@ -1 +1 @@\n-one\n+ONE\n", "sub/x_test.go": "package x\n", "list": "a\nb\n",
}

// snapshot is every path in a directory with a digest of what it is.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		state := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			state += fmt.Sprintf(" %x %d", sha256.Sum256(data), info.ModTime().UnixNano())
		case info.Mode()&fs.ModeSymlink != 0:
			link, _ := os.Readlink(p)
			state += " " + link
		}
		out[rel] = state
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func differences(before, after map[string]string) map[string]string {
	out := map[string]string{}
	for p, state := range after {
		switch old, ok := before[p]; {
		case !ok && strings.HasPrefix(state, "d"):
			out[p] = "created directory"
		case !ok:
			out[p] = "created"
		case old != state:
			out[p] = "changed"
		}
	}
	for p := range before {
		if _, ok := after[p]; !ok {
			out[p] = "deleted"
		}
	}
	return out
}

// fileCommands change files in the scratch directory, each in a way of its own.
var fileCommands = []string{
	"rm a", "rm a b", "rm -- -f", "rm ./-f", "rm -rf sub", "rm -r -f sub empty", "rm --recursive --force sub", "rm --rec sub", "rm -fR sub", "rm sub/*", "rm -rf ./sub/../empty", "rm 'sp ace'", "rm sp\\ ace", "rm \"$PWD/a\"", "cd sub && rm f", "cd sub; rm deep/g; cd ..; rm a", "(cd sub; rm f); rm b", "pushd sub >/dev/null; rm f; popd >/dev/null; rm a", "rm ~/a", "rm {a,b}", "rm -rf {sub,empty}/", "rm [ab]", "rm ?",
	"rmdir empty", "rmdir -p empty", "mkdir -p x/y && rmdir -p x/y #same", "unlink a",
	"mv a new", "mv a sub", "mv a sub/", "mv a b sub", "mv -t sub a b", "mv --target-directory=sub a b", "mv --target-directory sub a", "mv --target sub a", "mv -T a new", "mv -f a b", "mv -fv a b", "mv -b a b", "mv -S .bak -b a b", "mv --suffix=.bak --backup a b", "mv -vt sub a b", "mv sub/f .", "mv -- -f dash", "mv sub newsub", "mv -tsub a", "mv --backup=t a b", "VERSION_CONTROL=numbered mv -b a b",
	"cp a new", "cp a sub", "cp a b sub", "cp -r sub new", "cp -a sub/. empty", "cp -t sub a b", "cp -rt empty sub a", "cp --parents sub/f empty", "cp -b a b", "cp --backup=numbered a b", "cp -S.orig -b a b", "cp -l a new", "cp -s \"$PWD/a\" new", "cp -T a new", "cp -- -f new", "cp a{,.bak}", "cp --no-clobber a new", "cp sub/* empty #same", "cp -R --no-target-directory sub new",
	"install a new", "install -m 600 a new", "install -d x/y/z", "install -D a x/y/z", "install -t sub a b", "install -Dt x/y a", "install -d -m 700 p q", "install -bS .o a b",
	"ln a new", "ln -s a new", "ln -sf a b", "ln -s sub/f", "ln -st sub ../a ../b", "ln -sr a sub/lnk", "ln -sfn a new", "ln -s a b sub", "ln --symbolic --target-directory=sub ../a", "ln -sfT a new", "ln -sb a b",
	"dd if=a of=new status=none", "dd of=new if=a bs=1 count=1 2>/dev/null", "dd if=/dev/zero of=a bs=1 count=1 conv=notrunc status=none",
	"echo x | tee new >/dev/null", "echo x | tee -a a b >/dev/null", "echo x | tee --append a >/dev/null", "echo x | tee new sub/new2 >/dev/null",
	"truncate -s 0 a", "truncate -s 10 new a", "truncate --size=3 a", "truncate -r a b", "fallocate -l 10 new",
	"touch new", "touch -d yesterday a", "touch -r b a #same", "touch -t 202001010000 a new", "touch --date=yesterday a", "touch -c a",
	"mkdir new", "mkdir -p x/y/z", "mkdir -m 700 new", "mkdir -pm 700 x/y", "mkdir x x/y", "mkdir --parents x/y", "mkfifo pipe", "mkfifo -m 600 pipe",
	"chmod 600 a", "chmod -x a #same", "chmod u-w,g-w a", "chmod -R go-rwx sub", "chmod --reference=sub a", "chmod -w a", "chmod -v 600 a >/dev/null", "chmod --recursive 700 sub", "chmod -- 600 -f",
	"shred -n1 a", "shred -un1 a", "shred --remove -n 1 a", "shred -z -n 1 -u a b",
	"sed -i s/one/x/ a", "sed -i.bak s/one/x/ a", "sed -i -e s/one/x/ -e s/two/y/ a b", "sed -n -i p a", "sed -ni p a", "sed --in-place s/one/x/ a", "sed --in-place=.orig s/one/x/ a", "sed -Ei 's/(one)/x/' a", "sed -i 's/o/0/g;s/w/W/' a b", "sed -e 's/a/b/w out' a >/dev/null", "sed -n 'w out' a", "sed 's/o/0/gw out' a >/dev/null", "sed -i -f list a 2>/dev/null", "sed -s -i 1d a b", "sed -z -i s/one/x/ a", "sed -i 's,one,x,' a", "sed -i '/one/d' a", "sed -i '1!G;h;$!d' a", "sed -n '/one/{w out1\nw out2\n}' a",
	"perl -pi -e s/one/x/ a", "perl -i -pe s/one/x/ a", "perl -i.bak -pe s/one/x/ a", "perl -p -i -e 's/one/x/' a b", "perl -ni -e print a", "perl -0777 -pi -e s/one/x/ a",
	"sort -o out a", "sort a -o a", "sort --output=out a b", "sort -uo out a", "shuf -o out a", "uniq a out", "split -l 1 a", "split -l 1 a pre", "split -b 2 a sub/pre", "split -d -l1 a pre.", "csplit -s a 2", "csplit -sf pre a 2", "csplit -s -z -f sub/p a 2", "tac a > out", "iconv -f utf-8 -t utf-16 -o out a", "base64 a > out",
	"gzip a", "gzip -k a", "gzip -c a > out", "gzip -9 a b", "gzip a && gunzip a.gz #same", "gzip a; gzip -d a.gz #same", "gzip -r sub", "bzip2 a", "xz a", "xz -k a", "gzip -S .zz a", "zstd -q a", "zstd -q --rm a", "zstd -q a -o out",
	"tar cf out.tar a b", "tar -czf out.tgz sub", "tar -cf out.tar -C sub f", "tar --create --file=out.tar a", "tar cf out.tar a; rm a; tar xf out.tar", "tar cf o.tar a; tar xf o.tar -C sub", "tar cf o.tar a; tar -xf o.tar --directory=sub", "tar -cf o.tar --remove-files a", "tar cf o.tar a; tar rf o.tar b", "tar cf o.tar a; tar --extract --file o.tar --directory sub", "tar cfv o.tar a > /dev/null", "tar cf - sub | tar xf - -C empty", "tar -c -f o.tar a", "tar cCf sub o.tar f", "tar czf o.tgz --exclude=deep sub", "tar cf o.tar a; tar xfO o.tar > out", "tar cf o.tar a; tar xf o.tar --one-top-level=new",
	"patch -s < d.patch", "patch -s -i d.patch", "patch -s old.txt d.patch", "patch -sb old.txt d.patch", "patch -s -o out old.txt d.patch", "patch -s -p0 < d.patch", "patch --dry-run -s -i d.patch", "patch -d sub -i ../d.patch -s 2>/dev/null >&2",
	"find . -name '*_test.go' -delete", "find sub -delete", "find sub -type f -delete", "find . -name a -exec rm {} \\;", "find . -name a -exec rm {} +", "find sub -type f -exec mv {} {}.bak \\;", "find . -maxdepth 1 -name '[ab]' -print0 | xargs -0 rm", "find . -name a -execdir rm {} \\;", "find . -name a -fprint out", "find sub empty -depth -delete", "find . -name a -exec sh -c 'rm \"$1\"' _ {} \\;", "find . -name a -exec cp {} empty \\;", "find . -name g -o -name f -delete", "find . \\( -name f -o -name g \\) -delete",
	"echo a b | xargs rm", "printf 'a\\nb\\n' | xargs -n1 rm", "xargs rm < list", "printf 'a\\0b\\0' | xargs -0 rm", "echo a | xargs -I{} mv {} {}.new", "echo a | xargs -I F cp F sub", "cat list | xargs -I% mv % sub/%",
	"echo x > new", "echo x >> a", "echo x >| a", "> new", ": > a", "echo x &> new", "echo x >& new", "echo x 2> new", "echo x 3<> new", "{ echo x; } > new", "(echo x) >> new", "for i in 1 2; do echo $i > n$i; done", "while read -r l; do echo $l > out.$l; done < a", "f() { echo x > \"$1\"; }; f new", "cat > new <<E\nrm -rf /\nE", "echo x > \"$PWD\"/new", "exec > new; echo x", "exec 3> new; echo x >&3", "echo hi | cat > new", "if true; then echo x; fi > new", "v=new; echo x > $v", "v=new; echo x > \"$v.txt\"", "cat a > >(cat > new); sleep 0.1", "echo x > sub/new", "cd sub && echo x > new", "bash -c 'echo x > new'", "sh -c 'cd sub; echo x > new'", "eval 'echo x > new'", "bash <<< 'rm a'", "echo 'rm a' | bash", "trap 'rm a' EXIT", "env -C sub rm f", "X=rm; $X a", "cmd=(rm -f a); \"${cmd[@]}\"", "command rm a", "nice -n 3 rm a", "timeout 5 rm a", "env A=b rm a", "nohup rm a", "setsid -w rm a", "flock lock rm a", "xargs -a list rm", "time rm a", "stdbuf -oL rm a", "script -qc 'rm a' /dev/null > /dev/null", "script -q -c true > /dev/null",
	"awk '{print > \"/dev/null\"}' a #same", "gawk -i inplace 1 a", "ed -s a <<< $'1d\\nw'", "openssl rand -out new 4", "rsync -a a sub/", "rsync -r --delete empty/ sub", "rsync --remove-source-files a sub/", "zip -q o.zip a", "zip -qm o.zip a", "cp a x.$(echo y)", "touch \"$(printf new)\"", "mktemp -p . > /dev/null", "mktemp ./pre.XXXXXX > /dev/null", "mktemp -d nXXX > /dev/null", "mktemp --tmpdir=sub foo.XXXX.txt > /dev/null",
}
