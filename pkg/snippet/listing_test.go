package snippet

import (
	"strings"
	"testing"
	"time"
)

func TestListings(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`for p in Path('.git').iterdir(): shutil.rmtree(p)`, "match(.git/*)"},
		{`for p in Path('a').rglob('*'): p.unlink()`, "match(a/**)"},
		{`for p in sorted(Path('a').rglob('*.o'), reverse=True): p.unlink()`, "match(a/**/*.o)"},
		{"for p in Path('a').rglob('*.o'):\n if x(p): p.unlink()", "delete(a/${__}.o)"},
		{`for p in glob.glob('a/[ab]*')[1:]: os.remove(p)`, "delete(a/${__})"},
		{`for p in Path('a').iterdir(): print(p.read_text())`, "open(a/${__})"},
		{`for p in Path('a').iterdir(): subprocess.run(['rm', p])`, "run(rm,a/${__})"},
		{`print([open(f).read() for f in glob.glob('a/*')])`, "open(a/${__})"},
		{`[os.remove(os.path.join(r, f)) for r, d, fs in os.walk('a') for f in fs]`, "match(a/**)"},
		{"for r, d, fs in os.walk('a'):\n for f in fs:\n  if f: os.remove(os.path.join(r, f))", "delete(a/${__})"},
		{`for d in os.listdir('a'): shutil.rmtree(os.path.join('a', d))`, "match(a/*)"},
		{`for d in os.listdir(x): shutil.rmtree(os.path.join(x, d))`, "tree(${__})"},
		{`with os.scandir('a') as it: [os.remove(e.path) for e in it]`, "match(a/*)"},
		{`for p in ['a', 'b']: shutil.rmtree(p + '/c')`, "tree(a/c) tree(b/c)"},
		{`for p in [x, 'b']: shutil.rmtree(p)`, ""},
		{"p = 'a'\nfor p in x: os.remove(p)", ""},
		{`for p in Path(x).iterdir(): p.unlink()`, ""},
		{`for c in ['rm a', 'rm b']: os.system(c)`, "sh(rm a) sh(rm b)"},
	} {
		if got := show(Read(Python, c.code)); got != c.want {
			t.Errorf("%s\n  %s, want %s", c.code, got, c.want)
		}
	}
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		lang       Language
		code, want string
	}{
		{Python, `shutil.rmtree(os.getcwd()); rmtree(Path.cwd() / 'a')`, "tree(.) tree(./a)"},
		{Python, `p = Path('a'); p.open(mode='w'); p.open(); p.rename('b')`, "write(a) open(a) delete(a) write(b)"},
		{Python, `c = configparser.ConfigParser(); c.read('a'); f.read('b'); zipfile.ZipFile('c').read('d')`, "open(a)"},
		{Python, `tarfile.open('t', 'w').add('a'); x.add('b')`, "open(a)"},
		{Python, `with zipfile.ZipFile('z', 'w') as z: z.write('a'); z.read('b')`, "open(a)"},
		{Python, `dotenv_values(); dotenv_values('a')`, "open(.env) open(a)"},
		{Python, `os.chmod('a', 0o644); Path('b').chmod(x); os.chmod(y, 0o644)`, "run(chmod,644,a) run(chmod,${__},b)"},
		{Python, `os.chdir('a'); open('b')`, "enter(a) open(b)"},
		{JavaScript, `fs.rmSync(process.cwd()); fs.chmodSync('a', 493)`, "tree(.) run(chmod,755,a)"},
		{JavaScript, `require('rimraf').sync('a'); glob.sync('b')`, "tree(a)"},
		{JavaScript, `require('shelljs').rm('-rf', ['a', 'b']); shell.openPath('c'); shell.exec('d')`, "run(rm,-rf,a,b) sh(d)"},
		{JavaScript, `require('execa').execaSync('a', ['b'])`, "run(a,b)"},
		{Ruby, `FileUtils.rm_rf(Dir.pwd); FileUtils.rm_rf Dir.pwd + "/a"`, "tree(.) tree(./a)"},
		{Perl, `chmod 0644, "a", "b"`, "run(chmod,644,a,b)"},
	} {
		if got := show(Read(c.lang, c.code)); got != c.want {
			t.Errorf("%s\n  %s, want %s", c.code, got, c.want)
		}
	}
}

// TestWork: values that grow, and loops and code within each other, take little time.
func TestWork(t *testing.T) {
	quoted := func(code string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(code) + "'"
	}
	nested := "x"
	for range 4 {
		nested = "a=" + quoted(nested) + ";" + strings.Repeat("eval(a);", 100)
	}
	for name, code := range map[string]string{
		"text":          "a='xyz ';" + strings.Repeat("a=a+a;", 4000),
		"words":         "a='x ';" + strings.Repeat("a=a+a;", 20) + strings.Repeat("b=a.split();", 2000),
		"list":          "a=['x'];" + strings.Repeat("a=a+a;", 4000),
		"alternatives":  "for a in ['" + strings.Repeat("x','", 14) + "']: " + strings.Repeat("a=a+a;", 4000),
		"classes":       "for a in glob('" + strings.Repeat("[", 9000) + "'): " + strings.Repeat("open(a);", 2000),
		"holes":         "for a in glob('" + strings.Repeat("*/", 4000) + "'): " + strings.Repeat("open(a);", 2000),
		"comprehension": strings.Repeat("[a for a in ", 4000),
		"targets":       strings.Repeat("for a,", 6000),
		"code":          nested,
		"empty":         "require(''); __import__(''); require('').a(''); for",
	} {
		start := time.Now()
		for lang := Python; lang <= Awk; lang++ {
			if n := len(Read(lang, code)); n > maxActs {
				t.Errorf("%s: %d acts", name, n)
			}
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Log(name, took)
		}
	}
}
