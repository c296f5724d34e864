package fileops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ethos/pkg/record"
)

// serve serves a tree for a test: send a line, receive an answer.
func serve(t *testing.T, tree *Tree, jobs int) (send func(string), receive func() *Answer) {
	t.Helper()
	in, requests, err := os.Pipe()
	must(t, err)
	answers, out, err := os.Pipe()
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- errors.Join(Serve(context.Background(), tree, in, out, 0, jobs), out.Close()) }()
	lines := bufio.NewReader(answers)
	t.Cleanup(func() {
		requests.Close()
		io.Copy(io.Discard, lines)
		must(t, <-done)
	})
	return func(line string) {
			_, err := io.WriteString(requests, line+"\n")
			must(t, err)
		}, func() *Answer {
			line, err := lines.ReadBytes('\n')
			must(t, err)
			a, err := ParseAnswer(line)
			must(t, err)
			return a
		}
}

// TestCancel: one that waits for its turn, one that waits for another writer,
// and one that is not there.
func TestCancel(t *testing.T) {
	dir, tree := space(t)
	send, receive := serve(t, tree, 1)
	tree.changing.Lock()
	send(`{"id":"first","op":"write","path":"first","text":"x"}`)
	send(`{"id":"second","op":"write","path":"second","text":"x"}`)
	send(`{"id":"c1","cancel":"first"}`)
	send(`{"id":"c2","cancel":"second"}`)
	send(`{"id":"c3","cancel":"third"}`)
	for _, id := range []string{"c1", "c2", "c3"} {
		for {
			a := receive()
			if a.ID == "second" || a.ID == "first" { // whichever waits for its turn ends at once
				if code(a) != "ECANCELED" {
					t.Errorf("%s: %+v", a.ID, a)
				}
				continue
			}
			if d := result[DoneResult](t, a); a.ID != id || d.Done != (id != "c3") {
				t.Errorf("%+v %+v", a, d)
			}
			break
		}
	}
	tree.changing.Unlock()
	send(`{"id":"last","op":"write","path":"last","text":"x"}`)
	for {
		a := receive()
		if a.ID == "last" {
			if code(a) != "" {
				t.Errorf("%+v", a.Error)
			}
			break
		}
		if code(a) != "ECANCELED" {
			t.Errorf("%s: %+v", a.ID, a)
		}
	}
	for name, want := range map[string]bool{"first": false, "second": false, "last": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConcurrent: edits of one file that come at once lose none of them.
func TestConcurrent(t *testing.T) {
	dir, tree := space(t)
	const n = 50
	var before, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "<%d>\n", i)
		fmt.Fprintf(&after, "[%d]\n", i)
	}
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte(before.String()), 0o644))
	send, receive := serve(t, tree, 8)
	go func() {
		for i := range n {
			send(fmt.Sprintf(`{"id":"%d","op":"edit","path":"f","old":"<%d>","new":"[%d]"}`, i, i, i))
		}
	}()
	seen := map[string]bool{}
	for range n {
		a := receive()
		if code(a) != "" || seen[a.ID] {
			t.Errorf("%s: %+v", a.ID, a.Error)
		}
		seen[a.ID] = true
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "f")); string(text) != after.String() {
		t.Errorf("left %q", text)
	}
}

// TestSwappedDirectory: while requests run, a directory is replaced by a link to
// one outside, and back. Nothing outside is read, written, listed or removed; the
// twin, the same requests on the directory, succeed at times.
func TestSwappedDirectory(t *testing.T) {
	dir, tree := space(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	for _, d := range []string{filepath.Join(dir, "sub"), outside} {
		must(t, os.MkdirAll(filepath.Join(d, "deep"), 0o755))
		must(t, os.WriteFile(filepath.Join(d, "deep/f"), []byte(filepath.Base(d)+" x"), 0o644))
	}
	ctx, stop := context.WithCancel(context.Background())
	var swapping sync.WaitGroup
	var done atomic.Int64
	swapping.Go(func() {
		sub, aside, link := filepath.Join(dir, "sub"), filepath.Join(dir, "aside"), filepath.Join(dir, "link")
		for ctx.Err() == nil {
			must(t, os.Rename(sub, aside))
			must(t, os.Symlink(outside, link))
			must(t, os.Rename(link, sub))
			must(t, os.Remove(sub))
			must(t, os.Symlink("../outside", sub))
			must(t, os.Remove(sub))
			must(t, os.Rename(aside, sub))
			for now := done.Load(); done.Load() < now+4 && ctx.Err() == nil; { // requests that find it as it was
				runtime.Gosched()
			}
		}
	})
	worked := map[string]int{}
	requests := []string{
		`"op":"read","path":"sub/deep/f"`, `"op":"grep","path":"sub","pattern":"x"`, `"op":"list","path":"sub","recursive":true`, `"op":"stat","path":"sub/deep/f"`,
		`"op":"write","path":"sub/deep/new","text":"x"`, `"op":"edit","path":"sub/deep/f","old":"x","new":"xx","all":true`, `"op":"edit","path":"sub/deep/f","old":"xx","new":"x","all":true`,
		`"op":"mkdir","path":"sub/deep/a"`, `"op":"remove","path":"sub/deep/a","recursive":true`, `"op":"rename","path":"sub/deep/new","to":"sub/deep/new2","replace":true`,
	}
	for i := 0; i < 3000 && !(i >= 300 && len(worked) == len(requests)); i++ {
		request := requests[rand.IntN(len(requests))]
		a := ask(t, tree, `{"id":"1",`+request+`}`)
		done.Add(1)
		if strings.Contains(string(a.Result), "outside") {
			t.Fatalf("%s: %s", request, a.Result)
		}
		if a.Error == nil {
			worked[request]++
		}
	}
	stop()
	swapping.Wait()
	for _, request := range requests {
		if worked[request] == 0 {
			t.Errorf("%s never succeeded", request)
		}
	}
	if got := shown(t, outside); strings.Count(got, "\n") != 3 || !strings.Contains(got, `/deep/f -rw-r--r-- "outside x"`) {
		t.Errorf("outside is now\n%s", got)
	}
}

// TestGrowingFile: a file that grows as fast as it can be read is read to where
// it ended when it was opened, and the answer says that it changed.
func TestGrowingFile(t *testing.T) {
	dir, tree := space(t)
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	defer f.Close()
	first := strings.Repeat("line\n", 1000)
	_, err = f.WriteString(first)
	must(t, err)
	r := &growing{Reader: strings.NewReader(first), more: func() { f.WriteString(first) }}
	out, err := readLines(context.Background(), io.LimitReader(r, int64(len(first))), &Request{})
	if err != nil || out.Total != 1000 || out.Size != int64(len(first)) {
		t.Errorf("%+v, %v", out, err)
	}
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; i < 20000; i++ {
			select {
			case <-stop:
				return
			default:
				f.WriteString(first)
			}
		}
	})
	changed := false
	for i := 0; i < 200 && !changed; i++ {
		changed = result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"log","limit":5}`)).Changed
	}
	close(stop)
	writing.Wait()
	if !changed {
		t.Error("no answer says that the file changed")
	}
	if r := result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"log","limit":5}`)); r.Changed || r.Count != 5 {
		t.Errorf("the twin, which nobody writes to: %+v", r)
	}
}

// growing has more each time it is read.
type growing struct {
	io.Reader
	more func()
}

func (g *growing) Read(p []byte) (int, error) {
	g.more()
	n, _ := g.Reader.Read(p)
	if n == 0 {
		return copy(p, "more\n"), nil
	}
	return n, nil
}

// requests are lines, and what is wrong with each.
var requests = map[string]string{
	`{"id":"1","op":"read","path":"a"}`:                        "",
	`{"id":"1","op":"write","path":"a","text":""}`:             "",
	`{"id":"1","op":"edit","path":"a","old":"x","new":""}`:     "",
	`{"id":"1","op":"list"}`:                                   "",
	`{"id":"1","op":"list","skip":[]}`:                         "",
	`{"id":"1","cancel":"2"}`:                                  "",
	`{"id":"1","op":"read"}`:                                   record.CodeWrongValue,
	`{"id":"1","op":"read","path":"a","text":"x"}`:             record.CodeWrongValue,
	`{"id":"1","op":"read","path":"a","unit":"words"}`:         record.CodeWrongValue,
	`{"id":"1","op":"read","path":"a","offset":-1}`:            record.CodeWrongValue,
	`{"id":"1","op":"write","path":"a"}`:                       record.CodeWrongValue,
	`{"id":"1","op":"write","path":"a","text":"","base64":""}`: record.CodeWrongValue,
	`{"id":"1","op":"write","path":"a","base64":"%"}`:          record.CodeWrongValue,
	`{"id":"1","op":"write","path":"a","base64":"AP+B"}`:       "",
	`{"id":"1","op":"write","path":"a","base64":"AP9="}`:       record.CodeWrongValue, // bits beyond the end
	`{"id":"1","op":"edit","path":"a","old":"x","new":"x"}`:    record.CodeWrongValue,
	`{"id":"1","op":"edit","path":"a","old":"","new":"x"}`:     record.CodeWrongValue,
	`{"id":"1","op":"chmod","path":"a"}`:                       record.CodeWrongValue,
	`{"id":"1"}`:                                               record.CodeWrongValue,
	`{"id":"1","op":"read","path":"a","cancel":"2"}`:           record.CodeWrongValue,
	`{"id":"","op":"list"}`:                                    record.CodeWrongValue,
	`{"id":"` + strings.Repeat("x", 129) + `","op":"list"}`:    record.CodeWrongValue,
	`{"op":"list"}`:                                    record.CodeMissingField,
	`{"id":1,"op":"list"}`:                             record.CodeWrongType,
	`{"id":"1","op":"list","recursive":1}`:             record.CodeWrongType,
	`{"id":"1","op":"list","mode":"x"}`:                record.CodeUnknownField,
	`{"id":"1","id":"2","op":"list"}`:                  record.CodeDuplicateKey,
	`{"id":"1","op":"read","path":"\ud800"}`:           record.CodeInvalidUTF8,
	"{\"id\":\"1\",\"op\":\"read\",\"path\":\"\xff\"}": record.CodeInvalidUTF8,
	`{"id":"1","op":"list"`:                            record.CodeTruncated,
	`{"id":"1","op":"list"} {}`:                        record.CodeInvalidJSON,
	`[]`:                                               record.CodeWrongType,
	``:                                                 record.CodeTruncated,
	`{"id":"1","op":"glob","pattern":"` + strings.Repeat("x", 1025) + `"}`:    record.CodeWrongValue,
	`{"id":"1","op":"list","after":"` + strings.Repeat("x", 3*maxPath) + `"}`: record.CodeWrongValue,
}

func TestParse(t *testing.T) {
	for line, want := range requests {
		_, err := Parse([]byte(line))
		var bad *record.BadLine
		if errors.As(err, &bad); (bad == nil) != (want == "") || bad != nil && bad.Code != want {
			t.Errorf("%.80s: %v, want %q", line, err, want)
		}
		if bad != nil && strings.HasPrefix(line, `{"id":"1","op":"list","mode"`) && bad.ID != "1" {
			t.Errorf("%s: the id is lost: %+v", line, bad)
		}
	}
}

// FuzzParse: what is taken meets the schema and can be carried out; what is not
// has a code.
func FuzzParse(f *testing.F) {
	for line := range requests {
		f.Add([]byte(line))
	}
	_, tree := space(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Parse(line)
		var bad *record.BadLine
		switch {
		case err == nil:
			meets(t, line)
			if r.Cancel == "" && !changes(r.Op) && !strings.HasPrefix(r.Path, "/") {
				if a := tree.Do(context.Background(), r); a.ID != r.ID || (a.Result == nil) == (a.Error == nil) {
					t.Errorf("%s: %+v", line, a)
				}
			}
		case !errors.As(err, &bad) || bad.Code == "" || bad.Message == "":
			t.Errorf("%q: %v", line, err)
		}
	})
}
