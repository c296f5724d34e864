package egress

import (
	"fmt"
	"strings"
	"time"

	"ethos/pkg/egress/head"
	"ethos/pkg/egress/rule"
)

// plain reads the head of the first request at port 80 and compares the host
// that it is for, as the explicit proxy does. The client of an address or of a
// local name may have a name for its server that ethos does not know. Whatever
// is not HTTP passes, and so do later requests.
func (t *tunnel) plain(raw []byte) ([]byte, error) {
	if t.event.Port != 80 || t.host.Addr().IsValid() || t.host.IsLocal() || len(raw) == 0 {
		return raw, nil
	}
	if err := t.client.SetReadDeadline(time.Now().Add(t.gateway.config.HeadTimeout)); err != nil {
		return raw, err
	}
	raw = append(raw, t.client.pending...)
	t.client.pending = nil
	buffer := make([]byte, 1024)
	hosts, ended := head.Hosts(raw)
	for !ended && len(raw) < head.Limit {
		n, err := t.client.Read(buffer)
		raw = append(raw, buffer[:n]...)
		hosts, ended = head.Hosts(raw)
		if err != nil {
			break // whoever reads on meets it again
		}
	}
	for _, text := range hosts {
		if asked, _, err := rule.ParseAuthority(text, 80); text != "" && (err != nil || asked != t.host || strings.Contains(text, "@")) {
			return nil, refuse(DeniedHost, fmt.Errorf("the request is for %.300q, %s was judged", text, t.host))
		}
	}
	return raw, t.client.SetReadDeadline(time.Time{})
}
