package main

import (
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/trust"
)

// TestWaysOut: what is told of an agent's call is what a person does, and an
// approval is named only where it brings what was denied.
func TestWaysOut(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	now := time.Now()
	const id = "01a206c2-45e5-782f-8604-5773555d0098"
	call := trust.Refused{
		ID: id, Time: now, Call: "sha256:" + strings.Repeat("0", 64), Workspace: "/w", Verdict: record.VerdictAllow,
		Grants: []string{"domain=registry.npmjs.org", "domain=*.example.com"},
	}
	if err := trust.New(getenv).Note(call, now); err != nil {
		t.Fatal(err)
	}
	r := &recorded{sys: &cli.System{Environ: []string{"HOME=" + home}, Now: func() time.Time { return now }}, id: id}
	name := func(host string) record.Denial {
		return record.Denial{Layer: sandbox.ControlNetwork, Kind: record.KindName, Remedy: "--allow-domain " + host}
	}
	for want, d := range map[string]record.Denial{
		"ethos-decide approve " + id:                        name("registry.npmjs.org"),
		"ethos-decide approve " + id + "; then":             name("a.example.com"),
		"(network_tools)":                                   name("example.com"),
		"(network_tools), and runs ethos-decide trust":      name("'*.npmjs.org'"),
		"writes read_paths: [~/x] below sandbox in":         {Layer: "mount", Kind: record.KindHidden, Remedy: "--ro /home/x", Declare: "read_paths: [~/x]"},
		"session start --name NAME --unix-socket /s, and n": {Layer: "unix_sockets", Kind: record.KindSocket, Remedy: "--unix-socket /s"},
		"mv it back": {Layer: sandbox.ControlGit, Remedy: "mv it back"},
	} {
		if got := r.waysOut([]record.Denial{d})[0].Remedy; !strings.Contains(got, want) || strings.Contains(got, "--allow-domain") {
			t.Errorf("%s: %q", d.Remedy, got)
		}
	}
	other := &recorded{sys: r.sys, id: "01a206c2-45e5-782f-8604-5773555d0099"}
	if got := other.waysOut([]record.Denial{name("registry.npmjs.org")})[0].Remedy; strings.Contains(got, "approve") {
		t.Errorf("another call: %q", got)
	}
	if got := (*recorded)(nil).waysOut([]record.Denial{name("a.example")})[0].Remedy; got != "--allow-domain a.example" {
		t.Errorf("a person's own: %q", got)
	}
}
