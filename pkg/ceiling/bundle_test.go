package ceiling

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func example(t *testing.T) (*Bundle, []byte) {
	t.Helper()
	b, err := NewBundle("corp", 7, []File{{Dir + "/" + Name, []byte("version: 1\n")}, {Dir + "/policy.d/a.yml", []byte("version: 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.Tar()
	if err != nil {
		t.Fatal(err)
	}
	return b, text
}

// entry is a file of a tar that somebody else made.
type entry struct {
	header tar.Header
	text   string
}

func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.header.Size = int64(len(e.text))
		if e.header.Mode == 0 {
			e.header.Mode = 0o644
		}
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// manifest is one that agrees with files.
func manifest(t *testing.T, name string, number int64, files ...entry) entry {
	t.Helper()
	var list []File
	for _, f := range files {
		list = append(list, File{Dir + "/" + f.header.Name, []byte(f.text)})
	}
	text, err := Manifest{name, number, hashes(list)}.text()
	if err != nil {
		t.Fatal(err)
	}
	return plainEntry(manifestName, string(text))
}

func plainEntry(name, text string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}, text}
}

// TestBundle: there is one text for a bundle, and nothing else is one, also where its manifest agrees.
func TestBundle(t *testing.T) {
	b, text := example(t)
	again, err := ReadBundle(text)
	if err != nil || again.Manifest.String() != "corp 7" || len(again.Files) != 2 || again.Files[1].Name != b.Files[1].Name {
		t.Fatal(again, err)
	}
	first := plainEntry(Name, "version: 1\n")
	if own := tarOf(t, manifest(t, "corp", 7, first), first); own == nil {
		t.Fatal("none")
	} else if _, err := ReadBundle(own); err != nil {
		t.Fatalf("the twin of those below: %v", err)
	}
	link := entry{tar.Header{Name: Name, Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow", Format: tar.FormatUSTAR}, ""}
	hard := entry{tar.Header{Name: Name, Typeflag: tar.TypeLink, Linkname: "policy.d/a.yml", Format: tar.FormatUSTAR}, ""}
	dir := entry{tar.Header{Name: "policy.d/", Typeflag: tar.TypeDir, Format: tar.FormatUSTAR}, ""}
	setuid := first
	setuid.header.Mode = 0o4755
	owner := first
	owner.header.Uid = 1000
	pax := first
	pax.header.Format, pax.header.PAXRecords = tar.FormatPAX, map[string]string{"ETHOS.x": "y"}
	big := plainEntry(Name, strings.Repeat("#", MaxFile+1))
	with := func(list ...entry) []byte {
		return tarOf(t, append([]entry{manifest(t, "corp", 7, list...)}, list...)...)
	}
	for name, text := range map[string][]byte{
		"nothing":                 nil,
		"no file":                 with(),
		"a path upwards":          with(first, plainEntry("policy.d/../../x.yml", "version: 1\n")),
		"a path to root":          with(plainEntry("/etc/passwd", "")),
		"an absolute policy":      with(plainEntry("/policy.d/a.yml", "")),
		"a dot":                   with(plainEntry("./ceiling.yaml", "version: 1\n")),
		"another directory":       with(first, plainEntry("policy.d/sub/x.yml", "")),
		"a hidden file":           with(first, plainEntry("policy.d/.x.yml", "")),
		"the keys":                with(first, plainEntry(Keys, "")),
		"another name":            with(plainEntry("ceiling.yml", "version: 1\n")),
		"a line break":            with(first, plainEntry("policy.d/a\n.yml", "")),
		"a link":                  with(link),
		"a hard link":             with(first, hard),
		"a directory":             with(first, dir),
		"a set-user-ID bit":       with(setuid),
		"an owner":                with(owner),
		"attributes":              with(pax),
		"a name twice":            with(first, first),
		"a name twice, other":     tarOf(t, manifest(t, "corp", 7, first), first, plainEntry(Name, "version: 2\n")),
		"a large file":            with(big),
		"another order":           with(plainEntry("policy.d/a.yml", ""), first),
		"a file too many":         tarOf(t, manifest(t, "corp", 7, first), first, plainEntry("policy.d/a.yml", "")),
		"a file too few":          tarOf(t, manifest(t, "corp", 7, first, plainEntry("policy.d/a.yml", "")), first),
		"another content":         tarOf(t, manifest(t, "corp", 7, plainEntry(Name, "x")), first),
		"two manifests":           tarOf(t, manifest(t, "corp", 8, first), manifest(t, "corp", 7, first), first),
		"a manifest at the end":   tarOf(t, first, manifest(t, "corp", 7, first)),
		"an unknown key":          tarOf(t, plainEntry(manifestName, strings.Replace(manifest(t, "corp", 7, first).text, "{", `{"x":1,`, 1)), first),
		"no name":                 tarOf(t, manifest(t, "", 7, first), first),
		"a name that is a path":   tarOf(t, manifest(t, "../corp", 7, first), first),
		"the number 0":            tarOf(t, manifest(t, "corp", 0, first), first),
		"more behind it":          append(bytes.Clone(text), 'x'),
		"more blocks behind it":   append(bytes.Clone(text), make([]byte, 512)...),
		"another tar behind it":   append(bytes.Clone(text), text...),
		"its end is missing":      text[:len(text)-1],
		"its last file is broken": text[:len(text)-1536],
		"compressed":              []byte("\x1f\x8b\x08\x00"),
		"too long":                make([]byte, MaxBundle+1),
	} {
		if b, err := ReadBundle(text); err == nil {
			t.Errorf("%s: is a bundle: %v", name, b.Manifest)
		}
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= byte(1 + i%255)
		if c, err := ReadBundle(changed); err == nil && c.Manifest.Name == b.Manifest.Name { // another name is another bundle; who signs says which
			t.Errorf("byte %d changed: is a bundle", i)
		}
	}
}

// TestSparse: a file that says it is a thousand gigabytes long costs no memory.
func TestSparse(t *testing.T) {
	text := tarOf(t, plainEntry(manifestName, "{}"))[:1024]
	header := make([]byte, 512)
	copy(header, Name)
	copy(header[100:], "0000644\x000000000\x000000000\x00")
	copy(header[124:], "00000000000\x00")
	copy(header[136:], "00000000000\x00")
	header[156] = 'S'
	copy(header[257:], "ustar  \x00")
	copy(header[483:], "77777777777\x00") // its real size
	sum := 8 * int(' ')
	for i, b := range header {
		if i < 148 || i >= 156 {
			sum += int(b)
		}
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	text = append(append(text, header...), make([]byte, 1024)...)
	if _, err := ReadBundle(text); err == nil || !strings.Contains(err.Error(), "longer than its bundle") {
		t.Error(err)
	}
}
