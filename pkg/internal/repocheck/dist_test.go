package repocheck

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestRenameModule holds that packaging/rename-module makes any path the module path: every import resolves, and no file
// names a package by the path that was.
func TestRenameModule(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:go", "command:bash")
	tr, dir := load(t), t.TempDir()
	for _, name := range tr.files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(tr.read(t, name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"example.org/some-one/ethos.v2", "ethos"} { // there, and back to what it may have been
		run(t, dir, nil, "bash", "packaging/rename-module", path)
		out := run(t, dir, nil, "go", "list", "-e", "-deps", "-test", "-f", "{{with .Error}}{{.}}{{end}}{{if not .Standard}}{{.ImportPath}}{{end}}", "./...")
		for _, want := range []string{path + "/pkg/sandbox\n", path + "/cmd/ethos-facts\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: go list does not name %s", path, want)
			}
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, " ") && !strings.Contains(line, ".test]") {
				t.Errorf("%s: go list: %s", path, line)
			}
		}
		if path != "ethos" {
			if left, err := exec.Command("grep", "-rnE", `"ethos/(pkg|cmd)[/"]`, dir).CombinedOutput(); err == nil {
				t.Errorf("these still have the old path:\n%s", left)
			}
		}
	}
}

// linkedInto is what `go version -m -json` says of a program, shortened.
const linkedInto = `{"GoVersion":"go1.26.0","Path":"ethos/cmd/some","Main":{"Path":"ethos","Version":"(devel)"},"Deps":[
 {"Path":"cel.dev/expr","Version":"v0.25.1","Sum":"h1:1KrZg61W6TWSxuNZ37Xy49ps13NUovb66QLprthtwi4="},
 {"Path":"mvdan.cc/sh/v3","Version":"v3.14.1","Sum":"h1:0"},
 {"Path":"example.org/a_b","Version":"v0.0.0-20260721110140-13bff69235f3+incompatible"}]}`

// TestBillOfMaterials holds that packaging/sbom.jq writes what SPDX 2.3 requires of a document, with every module that is
// linked into a program.
func TestBillOfMaterials(t *testing.T) {
	probetest.Need(t, "command:jq")
	var input []byte
	for _, name := range []string{"amd64/some", "amd64/other"} {
		input = append(input, `{"file":"`+name+`","sha256":"`+strings.Repeat("0f", 32)+`","info":`+linkedInto+`}`...)
	}
	script := filepath.Join(load(t).root, "packaging", "sbom.jq")
	out := run(t, ".", input, "jq", "-s", "-f", script, "--arg", "version", "1.2.3", "--arg", "created", "2026-01-02T03:04:05Z", "--arg", "namespace", "https://example.org/1")
	var got struct {
		SpdxVersion, DataLicense, SPDXID, Name, DocumentNamespace string
		Packages                                                  []struct{ Name, SPDXID, VersionInfo, DownloadLocation string }
		Relationships                                             []struct{ SpdxElementID, RelationshipType, RelatedSpdxElement string }
	}
	var linked struct {
		Deps []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(linkedInto), &linked); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.SpdxVersion != "SPDX-2.3" || got.DataLicense != "CC0-1.0" || got.SPDXID != "SPDXRef-DOCUMENT" || got.Name != "ethos-1.2.3" || got.DocumentNamespace != "https://example.org/1" {
		t.Errorf("the head of the document: %+v", got)
	}
	var ids []string
	for _, p := range got.Packages {
		if strings.Trim(p.SPDXID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" || slices.Contains(ids, p.SPDXID) || p.DownloadLocation == "" {
			t.Errorf("package %+v", p)
		}
		ids = append(ids, p.SPDXID)
	}
	if len(got.Packages) != len(linked.Deps)+3 { // and the programs, and the standard library
		t.Errorf("%d packages for %d modules", len(got.Packages), len(linked.Deps))
	}
	for _, m := range linked.Deps {
		i := slices.IndexFunc(got.Packages, func(p struct{ Name, SPDXID, VersionInfo, DownloadLocation string }) bool {
			return p.Name == m.Path && p.VersionInfo == m.Version
		})
		if i < 0 {
			t.Errorf("%s@%s is missing", m.Path, m.Version)
		}
	}
	for _, r := range got.Relationships {
		if !slices.Contains(ids, r.RelatedSpdxElement) || r.SpdxElementID != "SPDXRef-DOCUMENT" && !slices.Contains(ids, r.SpdxElementID) {
			t.Errorf("relationship %+v", r)
		}
	}
	if len(got.Relationships) != 2*(len(linked.Deps)+2) { // each program is described, and depends on the rest
		t.Errorf("%d relationships of %d packages", len(got.Relationships), len(got.Packages))
	}
}

// run returns what a command wrote to standard output; one that fails ends the test.
func run(t *testing.T, dir string, input []byte, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, messages bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewReader(input), &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, messages.String())
	}
	return out.String()
}
