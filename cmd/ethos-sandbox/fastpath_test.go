package main

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"ethos/pkg/cli"
)

// TestFastPath: what the fast path reads is what the model reads, and what it leaves to the model is what is unusual or wrong.
func TestFastPath(t *testing.T) {
	for line, quick := range map[string]bool{
		"run -- true":                                true,
		"run -- sh -c x --profile y --":              true,
		"run --profile build -- make -j4":            true,
		"run --profile=build --net=none -- make":     true,
		"run --ro a --ro=b --rw c=d -- ls":           true,
		"run --env A=B --env=C=D --env E -- env":     true,
		"run --deny-read a,b --deny-write c -- ls":   true,
		"run --timeout 1s --timeout=2s -- ls":        true,
		"run --memory 1G --cpu 50 -- ls":             true,
		"run --unix-socket /s --evidence fd:3 -- ls": true,
		"shell -c true":                              true,
		"shell --profile lint-offline -c exit\x004":  true,
		"shell -c x -- a --b":                        true,
		"shell --ro a":                               true,
		"shell --record 01234567-89ab-7cde-8f01-23456789abcd --session auto:claude-1 -c true": true,
		"run --record 01234567-89ab-7cde-8f01-23456789abcd -- true":                           true,
		"run":                                  false,
		"run --":                               false,
		"run true":                             false,
		"run --net moon -- ls":                 false,
		"run --require landlock,seccomp -- ls": true,
		"run --allow-domain a.example -- ls":   true,
		"run --allow-domain a,b:22 --allow-domain=c --deny-domain *.d -- ls": true,
		`run --allow-domain a\,b -- ls`:                                      false,
		"run --allow-domain a,,b -- ls":                                      false,
		"run --allow-domain a, -- ls":                                        false,
		"run --publish 80:80 --sni allow -- ls":                              true,
		"run --pids 5 -- ls":                                                 true,
		"run --dry-run -- ls":                                                true,
		"run --profile":                                                      false,
		"run --profile -- ls":                                                false,
		"run --profile= -- ls":                                               false,
		"run --denyread a -- ls":                                             false,
		"run --RO a -- ls":                                                   false,
		"run - a -- ls":                                                      false,
		"run --argv a -- ls":                                                 false,
		"shell --command true":                                               true,
		"run -c x -- ls":                                                     false,
		"run --nosuch x -- ls":                                               false,
		"run --help -- ls":                                                   false,
		"shell":                                                              false,
		"shell -c":                                                           false,
		"shell -c=x":                                                         false,
		"shell -cx":                                                          false,
		"shell x":                                                            false,
		"plan -- ls":                                                         false,
		"":                                                                   false,
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "\x00", " ")
		}
		got := fastPath(args)
		if (got != nil) != quick {
			t.Errorf("%q: read by the fast path: %v", line, got != nil)
		}
		if got == nil {
			continue
		}
		want, err := program().Selected(&cli.System{Stdout: io.Discard, Stderr: io.Discard}, args)
		if err != nil {
			t.Errorf("%q: the model refuses it: %v", line, err)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\nfast path %+v\nmodel %+v", line, got, want)
		}
	}
}
