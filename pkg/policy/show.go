//go:build !nocel

package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// show returns a value as JSON, truncated for display.
func show(v ref.Val) string {
	switch {
	case types.IsError(v):
		return "error: " + v.(*types.Err).Error()
	case types.IsUnknown(v):
		return "unknown"
	}
	text, err := json.Marshal(plain(v))
	if err != nil {
		return "error: " + err.Error()
	}
	if len(text) > maxShown {
		cut := maxShown
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		return string(text[:cut]) + "…"
	}
	return string(text)
}

// plain converts a CEL value to one that encoding/json writes.
func plain(v ref.Val) any {
	switch v := v.(type) {
	case *object:
		return v
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			list = append(list, plain(it.Next()))
		}
		return list
	case traits.Mapper:
		object := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			object[fmt.Sprint(key.Value())] = plain(v.Get(key))
		}
		return object
	case types.Null:
		return nil
	case types.Bytes:
		return strings.ToValidUTF8(string(v), "\uFFFD")
	}
	return v.Value()
}
