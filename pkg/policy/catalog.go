package policy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"ethos/pkg/catalog/shipped"
	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// tools is the catalog that is part of ethos. Tools that a work space adds appear in a record only
// if the action uses them.
var tools = lazy.Value[*[]record.Tool]{Make: func() *[]record.Tool {
	var list []record.Tool
	for _, t := range shipped.Tools() {
		list = append(list, record.Tool{ID: t.ID, Category: t.Category, Managed: t.Managed, Capabilities: t.Capabilities})
	}
	return &list
}}

// catalogDigest is the SHA-256 of the catalog in the form that expressions see.
var catalogDigest = lazy.Value[string]{Make: func() string {
	text, err := json.Marshal(tools.Get())
	if err != nil {
		panic(err) // the catalog is plain data
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}}
