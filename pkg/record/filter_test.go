package record

import (
	"bufio"
	"io"
	"testing"
	"time"
)

// TestFilterHalfLine: a line that is done is written although half of the next one is there.
func TestFilterHalfLine(t *testing.T) {
	in, feed := io.Pipe()
	back, out := io.Pipe()
	defer feed.Close()
	go func() {
		_, err := Filter{Stage: "decide", In: in, Out: out}.Run(t.Context(), func(*Line) error { return nil })
		out.CloseWithError(err)
	}()
	one := string(NewLine("", time.Time{}, Action{Kind: KindEvent, Cwd: "/w", Workspace: "/w"}, Actor{Mode: ModeSafe}).AppendTo(nil))
	go io.WriteString(feed, one+one[:20])
	if got, err := bufio.NewReader(back).ReadString('\n'); got != one || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
