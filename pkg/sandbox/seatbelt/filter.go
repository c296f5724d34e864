package seatbelt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// Request is what a process asks the kernel for.
type Request struct {
	Operation string // such as file-write-create
	Path      string // of a file, or of a Unix socket
	Protocol  string // of a socket: tcp, udp or unix
	Host      string // the other end of a connection, or the own end of a listener: localhost or another
	Port      string
	Name      string // of a service, a sysctl or shared memory
	Same      bool   // the target is a process of the same sandbox
}

// filter is one condition of a rule.
type filter struct {
	kind     string // such as subpath, or remote
	value    string
	regex    *regexp.Regexp
	protocol string  // of an end of a connection
	inner    *filter // of a Unix socket
}

// named are the filters with one value, and what their operations are about.
var named = []string{"literal", "subpath", "path-literal", "global-name", "sysctl-name", "sysctl-name-prefix", "ipc-posix-name"}

func filterOf(f form, parameters map[string]string) (filter, error) {
	if len(f.list) < 2 || f.list[0].kind != isWord {
		return filter{}, fmt.Errorf("a filter has a name and a value")
	}
	kind, value := f.list[0].text, f.list[1]
	switch {
	case kind == "regex" && len(f.list) == 2 && value.pattern:
		regex, err := regexp.Compile(value.text)
		return filter{kind: kind, value: value.text, regex: regex}, err
	case slices.Contains(named, kind) && len(f.list) == 2:
		text, err := valueOf(value, parameters)
		return filter{kind: kind, value: text}, err
	case f.is("target", "same-sandbox"), f.is("socket-domain", "AF_UNIX"):
		return filter{kind: kind, value: value.text}, nil
	case (kind == "remote" || kind == "local") && len(f.list) == 3 && value.kind == isWord:
		return endOf(kind, value.text, f.list[2], parameters)
	}
	return filter{}, fmt.Errorf("unknown filter %q", kind)
}

func valueOf(f form, parameters map[string]string) (string, error) {
	if f.kind == isString && !f.pattern {
		return f.text, nil
	}
	if len(f.list) == 2 && f.list[0].kind == isWord && f.list[0].text == "param" && f.list[1].kind == isString {
		value, ok := parameters[f.list[1].text]
		if !ok {
			return "", fmt.Errorf("parameter %q has no value", f.list[1].text)
		}
		return value, nil
	}
	return "", fmt.Errorf("a value is a string or a parameter")
}

// endOf reads an end of a connection: (remote tcp "localhost:443").
func endOf(kind, protocol string, f form, parameters map[string]string) (filter, error) {
	if protocol == "unix-socket" && f.kind == isList {
		inner, err := filterOf(f, parameters)
		if err == nil && inner.kind != "path-literal" && inner.kind != "subpath" {
			err = fmt.Errorf("a Unix socket has no %s", inner.kind)
		}
		return filter{kind: kind, protocol: "unix", inner: &inner}, err
	}
	if protocol != "ip" && protocol != "tcp" || f.kind != isString || f.pattern {
		return filter{}, fmt.Errorf("unknown protocol %q", protocol)
	}
	host, port, ok := strings.Cut(f.text, ":")
	if !ok || host != "*" && host != "localhost" || port == "" || strings.Trim(port, "0123456789") != "" && port != "*" {
		return filter{}, fmt.Errorf("an address is localhost:PORT or *:PORT, not %q", f.text)
	}
	return filter{kind: kind, protocol: protocol, value: f.text}, nil
}

func (f *filter) matches(q *Request) bool {
	switch f.kind {
	case "literal", "path-literal":
		return q.Path == f.value
	case "subpath":
		return q.Path != "" && mount.Within(q.Path, f.value)
	case "regex":
		return q.Path != "" && f.regex.MatchString(q.Path)
	case "global-name", "sysctl-name", "ipc-posix-name":
		return q.Name == f.value
	case "sysctl-name-prefix":
		return strings.HasPrefix(q.Name, f.value)
	case "target":
		return q.Same
	case "socket-domain":
		return q.Protocol == "unix"
	}
	return f.end(q)
}

// end reports whether the end of a connection is the filter's.
func (f *filter) end(q *Request) bool {
	if f.protocol == "unix" {
		return q.Protocol == "unix" && f.inner.matches(q)
	}
	if q.Protocol == "unix" || f.protocol == "tcp" && q.Protocol != "tcp" {
		return false
	}
	host, port, _ := strings.Cut(f.value, ":")
	return (host == "*" || host == q.Host) && (port == "*" || port == q.Port)
}
