package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var markExpr = regexp.MustCompile(`‹redacted:[a-z-]+:[0-9a-f]{8}›`)

// fake joins the parts of a made-up secret, so that no scanner takes this file for a leak.
func fake(parts ...string) string { return strings.Join(parts, "") }

// secretTexts are pieces of text and the secret in each.
func secretTexts() []struct{ name, text, secret string } {
	alnum := "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return []struct{ name, text, secret string }{
		{"assignment", "DB_PASSWORD=hunter2 ./run", "hunter2"},
		{"quoted assignment", `export API_TOKEN="a b c"; x`, "a b c"},
		{"single quotes", `SECRET='it is $ecret' x`, "it is $ecret"},
		{"after another assignment", "FOO=bar MYSQL_PWD=hunter2 mysql", "hunter2"},
		{"camel case", "githubToken=abc123def", "abc123def"},
		{"dashes", "x-api-key: 0a1b2c3d4e5f", "0a1b2c3d4e5f"},
		{"yaml", "user: bob\npassword: correct-horse\n", "correct-horse"},
		{"json", `{"user":"bob","password":"correct horse"}`, "correct horse"},
		{"json in json", `{\"token\":\"abcd1234\"}`, "abcd1234"},
		{"long option", "tool --password hunter22 --verbose", "hunter22"},
		{"option with =", "tool --auth-token=xyz", "xyz"},
		{"key variable", "STRIPE_KEY=0123456789abcdef0123", "0123456789abcdef0123"},
		{"url password", "git clone https://bob:p%40ss@git.example/x.git", "p%40ss"},
		{"url token", "https://0123456789abcdef@git.example/x", "0123456789abcdef"},
		{"database url", "postgres://app:s3cr3t@db:5432/app", "s3cr3t"},
		{"bearer header", "Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"},
		{"basic header", "authorization: Basic Ym9iOmh1bnRlcjI=", "Ym9iOmh1bnRlcjI="},
		{"bearer alone", "using bearer abcdefghijklmnopqrst now", "abcdefghijklmnopqrst"},
		{"cookie", "Cookie: session=abc; theme=dark", "session=abc; theme=dark"},
		{"curl -u", "curl -s -u bob:hunter2 https://x", "hunter2"},
		{"mysql -p", "mysql -u root -phunter2 db", "hunter2"},
		{"sshpass", "sshpass -p hunter2 ssh x", "hunter2"},
		{"docker login", "docker login -u bob -p hunter2 r.example", "hunter2"},
		{"redis", "redis-cli -h x -a hunter2 ping", "hunter2"},
		{"openssl", "openssl rsa -passin pass:hunter2 -in k", "hunter2"},
		{"smbclient", "smbclient -U bob%hunter2 //h/s", "hunter2"},
		{"aws key", "id " + fake("AKIA", "IOSFODNN7EXAMPLE"), fake("AKIA", "IOSFODNN7EXAMPLE")},
		{"github", "x " + fake("ghp_", alnum[:36]), fake("ghp_", alnum[:36])},
		{"github fine", fake("github_pat_", alnum[:22], "_", alnum[:59]), fake("github_pat_", alnum[:22], "_", alnum[:59])},
		{"gitlab", fake("glpat-", alnum[:20]), fake("glpat-", alnum[:20])},
		{"slack", fake("xoxb-", "1234567890-abcdef"), fake("xoxb-", "1234567890-abcdef")},
		{"google", fake("AIza", alnum[:35]), fake("AIza", alnum[:35])},
		{"stripe", fake("sk_live_", alnum[:24]), fake("sk_live_", alnum[:24])},
		{"ai", fake("sk-ant-", alnum[:40]), fake("sk-ant-", alnum[:40])},
		{"npm", fake("npm_", alnum[:36]), fake("npm_", alnum[:36])},
		{"pypi", fake("pypi-", alnum), fake("pypi-", alnum)},
		{"jwt", fake("eyJhbGciOiJI", ".", "eyJzdWIiOiIx", ".c2ln"), fake("eyJhbGciOiJI", ".", "eyJzdWIiOiIx", ".c2ln")},
		{"age", fake("AGE-SECRET-KEY-1", strings.ToUpper(alnum[:58])), fake("AGE-SECRET-KEY-1", strings.ToUpper(alnum[:58]))},
		{"vault", fake("hvs.", alnum[:30]), fake("hvs.", alnum[:30])},
		{"pem", "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\nb", "MIIB"},
		{"pem cut off", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"},
	}
}

// plainTexts hold nothing to take out.
func plainTexts() []string {
	return []string{
		"", "go vet ./...", "PWD=/home/bob OLDPWD=/ ls", "TOKEN_FILE=/run/token tool --password-file x --token-ttl 5m",
		"password=$PASSWORD", "token: ${{ secrets.TOKEN }}", "Authorization: Bearer $TOKEN", "curl -u bob:$PW https://x", "https://$USER:$PW@host/x",
		"a.go:3:5: unexpected token: expected operand", "undefined: token", "max_tokens=4096", "password: string", "ssh://git@github.com/o/r",
		"public_key=AAAAB3NzaC1yc2EAAAADAQABAAAB", "CACHE_KEY=0123456789abcdef0123", "error: secret not found in namespace", "PASSWORD=***",
		"tokenizer=fast", "git@github.com:o/r.git", "sha256:0123456789abcdef0123456789abcdef", "password = os.Getenv(\"X\")", "-----BEGIN PUBLIC KEY-----\nMIIB",
		"token.Line = 3", "keyboard: qwerty123", "monkey=banana123", "http://localhost:8080/a@b", "docker run -p 8080:80 nginx",
	}
}

func TestRedactText(t *testing.T) {
	for _, c := range secretTexts() {
		t.Run(c.name, func(t *testing.T) {
			r := NewRedactor()
			got, n := r.Text(c.text)
			if strings.Contains(got, c.secret) || n == 0 || !markExpr.MatchString(got) {
				t.Errorf("Text(%q) = %q, %d", c.text, got, n)
			}
			again, n := r.Text(got)
			if again != got || n != 0 {
				t.Errorf("redacted twice: %q, %d", again, n)
			}
			if other, _ := NewRedactor().Text(c.text); other == got {
				t.Error("two redactors make the same mark: it can be tested against guesses")
			}
		})
	}
}

func TestRedactKeepsRest(t *testing.T) {
	for text, want := range map[string]string{
		"FOO=bar DB_PASSWORD=hunter2 ./run --fast":                        "FOO=bar DB_PASSWORD=M ./run --fast",
		"https://bob:p@h/x and more":                                      "https://bob:M@h/x and more",
		"a\n-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nb": "a\nM\nb",
		`{"password":"x","user":"bob"}`:                                   `{"password":"x","user":"bob"}`, // one letter, in prose
	} {
		got, _ := NewRedactor().Text(text)
		if got = markExpr.ReplaceAllString(got, "M"); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRedactLeavesPlainText(t *testing.T) {
	for _, text := range plainTexts() {
		if got, n := NewRedactor().Text(text); got != text || n != 0 {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"nothing", `{"a" : [1, "x", null] }`, `{"a" : [1, "x", null] }`},
		{"secret key", `{"env":{"set":{"API_TOKEN":"x","HOME":"/h"}}}`, `{"env":{"set":{"API_TOKEN":"M","HOME":"/h"}}}`},
		{"number", `{"input":{"password":1234,"max_tokens":5}}`, `{"input":{"password":"M","max_tokens":5}}`},
		{"name and value", `[{"name":"DB_PASSWORD","value":"x"},{"name":"A","value":"x"}]`, `[{"name":"DB_PASSWORD","value":"M"},{"name":"A","value":"x"}]`},
		{"argv", `{"argv":["tool","--password","x","--user","bob"]}`, `{"argv":["tool","--password","M","--user","bob"]}`},
		{"argv with =", `{"argv":["tool","--token=x"]}`, `{"argv":["tool","--token=M"]}`},
		{"argv curl", `{"argv":["/usr/bin/curl","-u","bob:x","y"]}`, `{"argv":["/usr/bin/curl","-u","bob:M","y"]}`},
		{"argv curl key as user", `{"argv":["curl","-u","` + fake("sk_live_", "0123456789abcdef") + `:","y"]}`, `{"argv":["curl","-u","M:","y"]}`},
		{"argv curl user=", `{"argv":["curl","--user=bob:x"]}`, `{"argv":["curl","--user=bob:M"]}`},
		{"argv mysql", `{"argv":["mysql","-px","db"]}`, `{"argv":["mysql","-pM","db"]}`},
		{"argv docker login", `{"argv":["docker","login","-u","bob","-p","x","r.example"]}`, `{"argv":["docker","login","-u","bob","-p","M","r.example"]}`},
		{"argv docker run", `{"argv":["docker","run","-p","8080:80","x"]}`, `{"argv":["docker","run","-p","8080:80","x"]}`},
		{"not mysql", `{"argv":["cp","-px","db"]}`, `{"argv":["cp","-px","db"]}`},
		{"option then option", `{"argv":["tool","--password","--verbose"]}`, `{"argv":["tool","--password","--verbose"]}`},
		{"escapes", `{"script":"PASSWORD=\"a\\nb\" x\n\u00e9"}`, `{"script":"PASSWORD=\"M\" x\né"}`},
		{"null argv", `{"argv":["tool",null,"--password",null]}`, `{"argv":["tool",null,"--password",null]}`},
		{"git config", `{"key":"http.extraheader","value":"AUTHORIZATION: basic Ym9iOng="}`, `{"key":"http.extraheader","value":"AUTHORIZATION: basic M"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, n := NewRedactor().JSON([]byte(c.in))
			if s := markExpr.ReplaceAllString(string(got), "M"); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
			if (n == 0) != (c.in == c.want) {
				t.Errorf("count = %d", n)
			}
		})
	}
}

func TestRedactBase64(t *testing.T) {
	binary := append([]byte{0xff, 0xfe, '\n'}, []byte("token=hunter2abc\n")...)
	in, _ := json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(binary)})
	out, n := NewRedactor().JSON(in)
	var got map[string]string
	if err := json.Unmarshal(out, &got); err != nil || n != 1 {
		t.Fatal(err, n)
	}
	plain, err := base64.StdEncoding.DecodeString(got["base64"])
	if err != nil || bytes.Contains(plain, []byte("hunter2abc")) || !bytes.HasPrefix(plain, []byte{0xff, 0xfe, '\n'}) {
		t.Errorf("plain = %q, %v", plain, err)
	}
}

// TestRedactRepeats: an object is redacted the same whatever came before it.
func TestRedactRepeats(t *testing.T) {
	const plain, secret = `{"env":{"set":{"HOME":"x"}}}`, `{"env":{"set":{"API_TOKEN":"x"}}}`
	one := NewRedactor()
	for _, text := range []string{
		plain, plain, secret, secret, plain, `{"env":{"set":{"HOME":"x","API_TOKEN":"x"}}}`, `{"env":{"set":{"HOME":"x"}},"token":"x"}`, secret,
	} {
		for _, key := range []string{"capabilities", "repo", "other", "capabilities"} {
			line := []byte(`{"` + key + `":` + text + `,"after":["tool","--password","y"]}`)
			got, n := one.JSON(line)
			want, m := NewRedactor().JSON(line)
			if wanted := 1 + strings.Count(strings.ToLower(text), "token"); n != m || n != wanted || markExpr.ReplaceAllString(string(got), "M") != markExpr.ReplaceAllString(string(want), "M") {
				t.Errorf("%s: %d: %s, alone %d: %s", line, n, got, m, want)
			}
		}
	}
}

// TestRedactNames: a name means the same however often it occurs, and next to whatever other names.
func TestRedactNames(t *testing.T) {
	one := NewRedactor()
	for i := range 3 * maxMembers {
		line := fmt.Appendf(nil, `{"name%d":"x","token":"y","name%d_token" : "z","\u0074oken":"v"}`, i, i%7)
		if out, n := one.JSON(line); n != 3 || bytes.Contains(out, []byte(`"y"`)) || bytes.Contains(out, []byte(`"z"`)) || bytes.Contains(out, []byte(`"v"`)) {
			t.Fatalf("%s: %d: %s", line, n, out)
		}
	}
	if len(one.members) > maxMembers {
		t.Errorf("%d names are remembered", len(one.members))
	}
}

// FuzzRedact holds that redaction keeps JSON valid, changes nothing but strings and secret numbers, and is done after one pass.
func FuzzRedact(f *testing.F) {
	for _, c := range secretTexts() {
		f.Add(c.text, c.name)
	}
	for _, text := range plainTexts() {
		f.Add(text, "key")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		in, err := json.Marshal(map[string]any{key: text, "argv": []string{"curl", "-u", text, text}, "n": 1})
		if err != nil {
			return
		}
		r := NewRedactor()
		out, n := r.JSON(in)
		if n == 0 && !bytes.Equal(in, out) {
			t.Errorf("changed without a count: %s", out)
		}
		var v map[string]any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("not JSON any more: %v: %s", err, out)
		}
		if again, _ := r.JSON(out); !bytes.Equal(again, out) {
			t.Errorf("twice differs:\n%s\n%s", out, again)
		}
	})
}

func BenchmarkRedactLine(b *testing.B) {
	line := testLine("x").AppendTo(nil)
	line = bytes.Replace(line, []byte(`"actor"`), []byte(`"facts":{"shell":{"commands":[`+strings.Repeat(`{"name":"go","path":"go","argv":["go","vet","./..."],"raw":"go vet ./...","wrappers":[]},`, 20)+`{}]}},"actor"`), 1)
	r := NewRedactor()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, n := r.JSON(line); n != 0 {
			b.Fatal(n)
		}
	}
}
