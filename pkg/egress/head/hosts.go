package head

import (
	"bytes"
	"strings"
)

// Hosts returns what the beginning of a stream says that it is for, as the text
// of Host fields and of a target with a host. It takes lines in any way in which
// a server may. ended reports that the head has ended, or that the stream is no
// HTTP/1.
func Hosts(raw []byte) (hosts []string, ended bool) {
	raw = bytes.TrimLeft(raw, "\r\n")
	method, rest, ok := bytes.Cut(raw, []byte(" "))
	if !token(string(method)) && len(raw) > 0 || len(method) > maxMethod {
		return nil, true
	}
	first, fields, complete := bytes.Cut(rest, []byte("\n"))
	if !ok || !complete {
		return nil, false
	}
	target, version, _ := strings.Cut(strings.TrimSpace(string(first)), " ")
	if !strings.HasPrefix(strings.TrimSpace(version), "HTTP/1.") {
		return nil, true
	}
	if _, after, ok := strings.Cut(target, "://"); ok && !strings.HasPrefix(target, "/") {
		authority := after[:len(after)-len(strings.TrimLeft(after, "/"))]
		authority, _, _ = strings.Cut(after[len(authority):], "/")
		hosts = append(hosts, authority)
	}
	return fieldsOf(hosts, string(fields))
}

const maxMethod = 30

func fieldsOf(hosts []string, fields string) (all []string, ended bool) {
	host := false // the last field is one
	for {
		line, rest, complete := strings.Cut(fields, "\n")
		if !complete {
			return hosts, false
		}
		fields = rest
		switch {
		case strings.Trim(line, "\r") == "":
			return hosts, true
		case line[0] == ' ' || line[0] == '\t': // folded
			if host {
				hosts[len(hosts)-1] = strings.TrimSpace(hosts[len(hosts)-1] + " " + strings.TrimSpace(line))
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		if host = strings.EqualFold(strings.TrimSpace(name), "Host"); host {
			hosts = append(hosts, strings.TrimSpace(value))
		}
	}
}
