package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
	"ethos/pkg/trace"
)

var screenshots = flag.String("screenshots", "", "keep the browser's screenshots in this directory")

func htmlOf(t testing.TB, entries ...*trace.Entry) string {
	t.Helper()
	var out bytes.Buffer
	through(t, NewHTML(&out, "1.2.3", testNow), entries)
	return out.String()
}

// payloads try to run a script, load something, or leave the text they stand in.
func payloads() []string {
	return []string{
		`<script>document.title="PWN"+"ED"</script>`,
		`"><img src=x onerror='document.title="PWN"+"ED"'>`,
		`'><svg/onload=document.title="PWN"+"ED">`,
		`</code></summary></details><iframe srcdoc="<script>parent.document.title='PWN'+'ED'</script>"></iframe>`,
		`</pre><style>body{display:none}</style><link rel=stylesheet href=//evil.example/x.css>`,
		"<!--", "-->", "]]>", "&lt;script&gt;", `javascript:document.title="PWN"+"ED"`, "\u2028<script>", "\x00<b>", "<details open ontoggle=document.title='PWN'+'ED'>",
		`<meta http-equiv=refresh content="0;url=//evil.example">`, `<base href=//evil.example/>`, "`${alert(1)}`", `onfocus=document.title="PWN"+"ED" autofocus=`,
	}
}

// hostile puts every payload into every text of a record that reaches the report.
func hostile(t testing.TB) (entries []*trace.Entry) {
	for i, p := range payloads() {
		set := denied(record.VerdictDeny, p, p, p)
		set["facts"] = record.Facts{
			Tool: record.Tool{ID: p, Category: p}, Incomplete: []string{p}, Repo: record.Repo{Branch: p},
			Shell: record.Shell{Risks: []string{p}, Commands: []record.Command{{Name: p}}, Reads: []record.PathUse{{Path: p}}, Writes: []record.PathUse{{Path: p}}},
			Git:   []record.Git{{Subcommand: p, Dangers: []string{p}}}, Capabilities: record.Capabilities{SandboxProfile: p, Tags: []string{p}},
		}
		res := ran("", 1, 5, p, p)["result"].(record.Result)
		res.Signal, res.Capture.Sandbox.Profile = p, p
		res.Capture.Sandbox.Controls = []record.Control{{Name: p, State: p, Enforced: p, Reason: p}}
		res.Capture.Sandbox.Denials = []record.Denial{{Layer: p, What: p, Reason: p, Path: p, Kept: p, Remedy: p}}
		res.Capture.Sandbox.Connections = []record.Connection{
			{Time: p, Door: p, Name: p, Address: p, Via: p, Rule: p, Reason: p, Detail: p, Remedy: p},
			{Time: p, Door: p, Name: p, Port: -1, Allowed: true, Reason: p, Detail: p},
		}
		res.Capture.Writes = &record.Writes{Created: 1, More: 1, List: []record.Write{{Path: p, Op: p, Type: p, Mode: p}}}
		set["result"] = res
		entries = append(entries, entry(t, i, script(strings.ReplaceAll(p, "\x00", "")), set, trace.Finding{Rule: p, Level: trace.LevelError, Message: p, Path: p, Line: 1}))
	}
	return entries
}

// TestHTMLHostile parses the report as a browser would: only the elements and attributes that are written on purpose are there.
func TestHTMLHostile(t *testing.T) {
	allowed := strings.Fields("html head meta title style body a header h1 h2 h3 p time main section ul li strong div table thead tbody tr th td span code svg rect text line details summary pre dl dt dd b br input label footer")
	attributes := strings.Fields("lang charset http-equiv content name class href datetime aria-labelledby aria-label aria-describedby id tabindex role scope viewbox height x y x1 x2 y1 y2 rx width colspan type checked for")
	doc := htmlOf(t, hostile(t)...)
	known := func(list []string, name string) bool {
		for _, s := range list {
			if s == strings.ToLower(name) {
				return true
			}
		}
		return false
	}
	z := html.NewTokenizer(strings.NewReader(doc))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.CommentToken:
			t.Errorf("a comment: %q", token.Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			if !known(allowed, token.Data) {
				t.Errorf("element %s", token)
			}
			for _, a := range token.Attr {
				if !known(attributes, a.Key) || strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("attribute %s=%q of %s", a.Key, a.Val, token.Data)
				}
			}
		}
	}
}

// TestHTMLPolicy holds that the policy allows the one style sheet and nothing else, and that the sheet does not depend on what is reported.
func TestHTMLPolicy(t *testing.T) {
	doc := htmlOf(t, hostile(t)...)
	css := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(doc)
	sum := sha256.Sum256([]byte(css[1]))
	want := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'; base-uri 'none'; form-action 'none'">`
	if !strings.Contains(doc, want) {
		t.Errorf("the policy is not %s", want)
	}
	if i := strings.Index(doc, "Content-Security-Policy"); i < 0 || i > strings.Index(doc, "<style>") {
		t.Error("the policy comes after the style")
	}
	if strings.Contains(css[1], "url(") || strings.Contains(css[1], "@import") {
		t.Error("the style loads something")
	}
	if strings.Contains(doc, " style=") || strings.Contains(doc, "<script") {
		t.Error("inline style or script")
	}
}

// TestHTMLComplete holds that everything of an action can be read.
func TestHTMLComplete(t *testing.T) {
	doc := htmlOf(t, sample(t)...)
	for _, want := range []string{
		"rm -rf ~", "deletes the home directory", "delete single files inside the work space", "pack:core/fs.yaml:12", "a.go:3:5", "landlock", "pipe_to_interpreter",
		"0197f6a0-0000-7000-8000-000000000001", "was ended at its time limit", "No such file", "3.0 MiB memory", "invalid_json", "<time datetime=\"2026-01-02T03:04:05Z\">",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(doc, "<details class=\"a "); n != len(sample(t))+1 {
		t.Errorf("%d actions", n)
	}
}

// TestHTMLOrder holds that actions stand by agent and session, what needs a look
// before the rest, and that equal failures are one row that opens to the others.
func TestHTMLOrder(t *testing.T) {
	of := func(e *trace.Entry, agent, session string) *trace.Entry {
		e.Actor.Agent, e.Actor.Session = agent, session
		return e
	}
	fails := func(n int) *trace.Entry { return entry(t, n, argv("make"), ran("", 2, 1, "", "gone\n")) }
	doc := htmlOf(t,
		of(entry(t, 1, argv("calm-one"), ran("", 0, 1, "", "")), "codex", "s1"),
		of(entry(t, 2, argv("calm-two"), ran("", 0, 1, "", "")), "claude", "s2"),
		of(fails(3), "claude", "s2"), of(fails(4), "claude", "s2"), of(fails(5), "claude", "s2"), of(fails(6), "codex", "s3"))
	list := doc[strings.Index(doc, `<div class="list">`):]
	var got []string
	for _, m := range regexp.MustCompile(`<h3>([^<]*) <span class="dim">[0-9]+ action|id="(a[0-9]+)"|<summary>([0-9]+ more actions?) like`).FindAllStringSubmatch(list, -1) {
		got = append(got, m[1]+m[2]+m[3])
	}
	if want := "claude s2 a3 2 more actions a4 a5 a2 codex s3 a6 no agent a7 codex s1 a1"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if !strings.Contains(doc, `<code>make</code><span class="dim"> ×3</span><br><code class="dim">gone</code>`) {
		t.Error("the failures are not listed once, with their number and last line")
	}
	if strings.Index(doc, "h-failed") > strings.Index(doc, "h-time") {
		t.Error("the failures do not come first")
	}
}

func TestHTMLEmpty(t *testing.T) {
	var out bytes.Buffer
	if err := NewHTML(&out, "1", testNow).Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Nothing was recorded") {
		t.Error(out.String())
	}
}

// TestContrast computes the contrast of every pair of colours that the sheet uses for text (WCAG 2.2, 1.4.3: at least 4.5).
func TestContrast(t *testing.T) {
	schemes := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(baseStyle, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d schemes", len(schemes))
	}
	pairs := [][2]string{
		{"fg", "bg"}, {"dim", "bg"}, {"link", "bg"}, {"fg", "code"}, {"dim", "code"}, {"good", "goodbg"}, {"bad", "badbg"}, {"fail", "failbg"}, {"warn", "warnbg"}, {"ask", "askbg"}, {"calm", "calmbg"},
	}
	for i, s := range schemes {
		colors := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+):(#[0-9a-f]+)`).FindAllStringSubmatch(s[1], -1) {
			colors[m[1]] = m[2]
		}
		for _, p := range pairs {
			if c := contrast(t, colors[p[0]], colors[p[1]]); c < 4.5 {
				t.Errorf("scheme %d: %s on %s has a contrast of %.2f", i, p[0], p[1], c)
			}
		}
	}
}

func contrast(t testing.TB, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG 2.2.
func luminance(t testing.TB, hex string) float64 {
	t.Helper()
	if len(hex) == 4 {
		hex = fmt.Sprintf("#%c%c%c%c%c%c", hex[1], hex[1], hex[2], hex[2], hex[3], hex[3])
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestBrowser opens the hostile report in Chromium: nothing runs, neither under the policy nor without it.
func TestBrowser(t *testing.T) {
	shorttest.Long(t)
	probetest.Need(t, "command:chromium")
	doc := htmlOf(t, append(hostile(t), sample(t)...)...)
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	for name, text := range map[string]string{"with policy": doc, "without policy": policy.ReplaceAllString(doc, "")} {
		t.Run(name, func(t *testing.T) {
			dom := chromium(t, text, "--dump-dom")
			if !strings.Contains(dom, "Written by ethos-trace") {
				t.Fatalf("the browser did not read to the end:\n%.2000s", dom)
			}
			if strings.Contains(dom, "PWNED") {
				t.Error("a payload ran")
			}
		})
	}
	t.Run("the test would notice", func(t *testing.T) {
		if dom := chromium(t, "<title>x</title><script>document.title='PWN'+'ED'</script>", "--dump-dom"); !strings.Contains(dom, "PWNED") {
			t.Error("a script that must run does not show")
		}
	})
}

// TestScreenshots takes a picture in either scheme, and looks whether it is one: the scheme's background, and more than that. With the flag
// -screenshots the pictures are kept for people.
func TestScreenshots(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:chromium")
	dir := *screenshots
	if dir == "" {
		dir = t.TempDir()
	}
	doc := htmlOf(t, sample(t)...)
	for name, scheme := range map[string]string{"light": "1", "dark": "0"} {
		file := filepath.Join(dir, name+".png")
		chromium(t, doc, "--screenshot="+file, "--window-size=1200,1800", "--blink-settings=preferredColorScheme="+scheme)
		picture := decoded(t, file)
		if r, _, _, _ := picture.At(2, 2).RGBA(); r > 0xe000 != (name == "light") {
			t.Errorf("%s: the background is %v", name, picture.At(2, 2))
		}
		if n := colors(picture); n < 20 {
			t.Errorf("%s: %d colours", name, n)
		}
	}
}

func decoded(t testing.TB, file string) image.Image {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func colors(picture image.Image) int {
	seen := map[color.Color]bool{}
	size := picture.Bounds()
	for y := size.Min.Y; y < size.Max.Y; y += 3 {
		for x := size.Min.X; x < size.Max.X; x++ {
			seen[picture.At(x, y)] = true
		}
	}
	return len(seen)
}

// TestBrowserFilters clicks the filters, which work by the style sheet alone, in a wide and in a narrow window.
func TestBrowserFilters(t *testing.T) {
	shorttest.Long(t)
	probetest.Need(t, "command:chromium")
	doc := htmlOf(t, sample(t)...)
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	click := `<script>
const shown = () => [...document.querySelectorAll(".list .a")].filter(a => getComputedStyle(a).display !== "none").length
const after = id => { document.getElementById(id).click(); return shown() }
document.title = [shown(), after("o-denied"), after("o-wrong"), after("o-invalid"), after("o-all"), after("t-1"), after("o-passed"),
  document.documentElement.scrollWidth > window.innerWidth ? "too wide" : "fits"].join(" ")
</script>`
	for _, wide := range []string{"360", "1200"} {
		dom := chromium(t, policy.ReplaceAllString(doc, "")+click, "--dump-dom", "--window-size="+wide+",900")
		if got := regexp.MustCompile(`<title>([^<]*)</title>`).FindStringSubmatch(dom); got == nil || got[1] != "14 2 11 1 14 1 0 fits" {
			t.Errorf("%s pixels wide: shown actions: %q", wide, got)
		}
	}
}

// chromium opens a page without any network and returns what the browser printed.
func chromium(t testing.TB, page string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + dir}, flags...)
	cmd := exec.Command("chromium", append(args, "file://"+file)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String()
}
