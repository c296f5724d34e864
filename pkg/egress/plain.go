package egress

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"ethos/pkg/egress/head"
	"ethos/pkg/egress/hello"
	"ethos/pkg/egress/rule"
)

// plain reads the head of the first request at port 80 and compares the host
// that it is for, as the explicit proxy does. The client of an address or of a
// local name may have a name for its server that ethos does not know. What is not
// HTTP/1 passes, and so do later requests. What may be HTTP/1 and does not end, in
// time or within the longest first message, is refused: its Host field could
// follow.
func (t *tunnel) plain(raw []byte) ([]byte, error) {
	if t.event.Port != 80 || t.host.Addr().IsValid() || t.host.IsLocal() || len(raw) == 0 {
		return raw, nil
	}
	if err := t.client.SetReadDeadline(time.Now().Add(t.gateway.config.HeadTimeout)); err != nil {
		return raw, err
	}
	raw = append(raw, t.client.pending...)
	t.client.pending = nil
	client := &timely{tunnel: t, limit: t.gateway.config.HeadTimeout, n: len(raw)}
	buffer := make([]byte, 1024)
	hosts, ended := head.Hosts(raw)
	for !ended {
		if len(raw) > hello.MaxLen {
			return nil, refuse(BadRequest, fmt.Errorf("the head of the request is longer than %d bytes", hello.MaxLen))
		}
		n, err := client.Read(buffer)
		raw = append(raw, buffer[:n]...)
		if hosts, ended = head.Hosts(raw); ended || err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, refuse(BadRequest, errors.New("the head of the request did not end in time"))
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		hosts, _ = head.Hosts(append(slices.Clip(raw), "\n\n"...)) // a server may take the last line for one
		break
	}
	for _, text := range hosts {
		if asked, _, err := rule.ParseAuthority(text, 80); text != "" && (err != nil || asked != t.host || strings.Contains(text, "@")) {
			return nil, refuse(DeniedHost, fmt.Errorf("the request is for %.300q, but %s was checked", text, t.host))
		}
	}
	return raw, t.client.SetReadDeadline(time.Time{})
}
