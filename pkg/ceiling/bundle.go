package ceiling

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

// MaxBundle is the size limit of the tar of a bundle, in bytes.
const MaxBundle = 16 << 20

// Manifest names a bundle and lists its content.
type Manifest struct {
	Name   string            `json:"name"`
	Number int64             `json:"number"` // version number; a greater one is newer
	Files  map[string]string `json:"files"`  // names relative to the directory, "sha256:" and the SHA-256 of the content in hex
}

// String returns its name and number.
func (m Manifest) String() string { return fmt.Sprintf("%s %d", m.Name, m.Number) }

// Bundle is the content of a whole directory, for distribution.
type Bundle struct {
	Manifest Manifest
	Files    []File // as [Read] returns them
}

// manifestName is the first file of the tar, and the name of the installed manifest in the
// directory.
const manifestName = "bundle.json"

var (
	validName = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`) }}
	validFile = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
		return regexp.MustCompile(`^(ceiling\.yaml|policy\.d/[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}\.ya?ml)$`)
	}}
)

// NewBundle returns a bundle of the files of a directory.
func NewBundle(name string, number int64, files []File) (*Bundle, error) {
	b := &Bundle{Manifest{name, number, hashes(files)}, files}
	return b, b.check()
}

func hashes(files []File) map[string]string {
	list := map[string]string{}
	for _, f := range files {
		sum := sha256.Sum256(f.Text)
		list[relative(f.Name)] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return list
}

func relative(name string) string { return strings.TrimPrefix(name, Dir+"/") }

func (b *Bundle) check() error {
	switch {
	case !validName.Get().MatchString(b.Manifest.Name):
		return fmt.Errorf("the name %q is not valid: use lower-case letters, digits, dots and hyphens, at most 64", b.Manifest.Name)
	case b.Manifest.Number < 1:
		return fmt.Errorf("the number %d is not valid: it must be at least 1", b.Manifest.Number)
	case len(b.Files) == 0:
		return fmt.Errorf("there is no %s and no policy file below %s", Name, Policies)
	case len(b.Manifest.Files) != len(b.Files):
		return errors.New("a name occurs twice")
	case !maps.Equal(b.Manifest.Files, hashes(b.Files)):
		return errors.New("its files do not match its manifest")
	}
	for _, f := range b.Files {
		if !validFile.Get().MatchString(relative(f.Name)) {
			return fmt.Errorf("%q is not a valid file name in a bundle: use %s, or %s/NAME.yml with letters, digits, dots, hyphens and underscores", relative(f.Name), Name, Policies)
		}
		if len(f.Text) > MaxFile {
			return fmt.Errorf("%s is longer than %d bytes", relative(f.Name), MaxFile)
		}
	}
	return nil
}

// Tar encodes the bundle. There is only one encoding: the manifest first, then the files in the
// order of [Read].
func (b *Bundle) Tar() ([]byte, error) {
	manifest, err := b.Manifest.text()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range append([]File{{manifestName, manifest}}, b.Files...) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: relative(f.Name), Mode: 0o644, Size: int64(len(f.Text)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if out.Len() > MaxBundle {
		return nil, fmt.Errorf("longer than %d bytes", MaxBundle)
	}
	return out.Bytes(), nil
}

func (m Manifest) text() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// ReadBundle decodes exactly what [Bundle.Tar] has encoded. Links, other names, duplicates,
// attributes and trailing data are errors.
func ReadBundle(text []byte) (*Bundle, error) {
	if len(text) > MaxBundle {
		return nil, fmt.Errorf("bundle: longer than %d bytes", MaxBundle)
	}
	b := &Bundle{}
	r := tar.NewReader(bytes.NewReader(text))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = contentOf(r, header, len(text))
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("bundle: %w", err)
		case header.Name == manifestName && len(b.Files) == 0:
			err = json.Unmarshal(content, &b.Manifest)
		default:
			b.Files = append(b.Files, File{Dir + "/" + header.Name, content})
		}
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	slices.SortFunc(b.Files, order)
	if own, err := b.Tar(); err != nil || !bytes.Equal(own, text) {
		return nil, errors.New("bundle: not in the form that ethos-decide bundle create writes")
	}
	return b, nil
}

// contentOf reads a file of the tar. The size limit matters because a sparse file is longer than
// its encoding.
func contentOf(r io.Reader, header *tar.Header, most int) ([]byte, error) {
	if header.Size > int64(most) {
		return nil, fmt.Errorf("%q is longer than its bundle", header.Name)
	}
	if header.Typeflag != tar.TypeReg || len(header.PAXRecords) > 0 {
		return nil, fmt.Errorf("%q is not a regular file", header.Name)
	}
	return io.ReadAll(io.LimitReader(r, MaxFile+1))
}

// order is that of [Read]: ceiling.yaml, then the policies by name.
func order(a, b File) int {
	return cmp.Or(strings.Count(a.Name, "/")-strings.Count(b.Name, "/"), cmp.Compare(a.Name, b.Name))
}
