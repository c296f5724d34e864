package gitrepo

import (
	"encoding/hex"
	"fmt"
)

// Blob returns the content of a file of the revision. oid is its object in the form of
// [Revision.Files]. A content longer than most bytes is an error, and so is one that does not
// have this name.
func (r *Revision) Blob(oid string, most int64) ([]byte, error) {
	raw, err := hex.DecodeString(oid)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", oid, errObject)
	}
	o := openObjects(r.at.commonDir)
	defer o.close()
	kind, body, err := o.read(string(raw), 0)
	switch {
	case err != nil:
		return nil, err
	case kind != "blob" || objectName(kind, body, len(raw)) != string(raw):
		return nil, fmt.Errorf("read object %s: %w", oid, errObject)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("read object %s: larger than %d bytes", oid, most)
	}
	return body, nil
}
