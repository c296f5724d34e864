package main

import (
	"errors"
	"reflect"
	"strconv"
	"testing"

	"ethos/pkg/catalog"
	"ethos/pkg/sandbox/explain"
)

// TestByHand: what a person adds by hand is a configuration, and means what the patch would.
func TestByHand(t *testing.T) {
	add := []explain.Declared{
		{Key: "read_paths", Path: "~/a"}, {Key: "env_files", Word: "read"}, {Key: "read_paths", Path: strconv.Quote(`/opt/c ], d: "`)},
		{Key: "network_tools", Path: `{tool: go-test, allow_domains: ["a.example:1"]}`},
	}
	patched, _, ok := explain.Patch("repo_config.yaml", "", add)
	if flow := explain.Flow(append(add, add[0])); !ok || flow != explain.Flow(add) {
		t.Errorf("not patched, or not each once: %s", flow)
	}
	got, err := catalog.ParseConfig("f", []byte(explain.Flow(add)))
	want, fault := catalog.ParseConfig("f", []byte(patched))
	if err := errors.Join(err, fault); err != nil || !reflect.DeepEqual(got, want) || reflect.DeepEqual(got, catalog.Config{}) {
		t.Errorf("%v: %s: %+v, and the patch %+v", err, explain.Flow(add), got, want)
	}
}
