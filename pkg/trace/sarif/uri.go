package sarif

import (
	"path"
	"strconv"
	"strings"
)

// baseID is the uriBaseId of the first workspace; further ones are numbered from 2.
const baseID = "SRCROOT"

// maxBases limits the workspaces with a base; paths in others are written in full.
const maxBases = 32

// bases holds the workspaces of a run.
type bases struct {
	order []string
	ids   map[string]string
}

// id returns the uriBaseId of a workspace, or "" if there are too many.
func (b *bases) id(workspace string) string {
	if id, ok := b.ids[workspace]; ok || workspace == "" || len(b.order) == maxBases {
		return id
	}
	if b.ids == nil {
		b.ids = map[string]string{}
	}
	b.order = append(b.order, workspace)
	id := baseID
	if n := len(b.order); n > 1 {
		id += strconv.Itoa(n)
	}
	b.ids[workspace] = id
	return id
}

// locate returns the location of a path that is absolute or relative to the workspace.
func (b *bases) locate(workspace, file string) artifactLocation {
	if path.IsAbs(file) {
		return artifactLocation{URI: "file://" + escape(file)}
	}
	if id := b.id(workspace); id != "" {
		return artifactLocation{URI: escape(file), URIBaseID: id}
	}
	return artifactLocation{URI: "file://" + escape(path.Join(workspace, file))}
}

// original returns run.originalUriBaseIds (3.14.14): absolute, ending in a slash.
func (b *bases) original() map[string]artifactLocation {
	out := map[string]artifactLocation{}
	for _, w := range b.order {
		out[b.ids[w]] = artifactLocation{URI: "file://" + escape(strings.TrimSuffix(w, "/")+"/"), Description: &message{"the work space"}}
	}
	return out
}

// escape percent-encodes a path for a URI (RFC 3986, section 3.3). It also encodes a colon, which
// in the first segment of a relative reference would end a scheme.
func escape(p string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(p) {
		c := p[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=@/", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(hex[c>>4])
		out.WriteByte(hex[c&15])
	}
	return out.String()
}
