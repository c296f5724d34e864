package main

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/catalog"
	"ethos/pkg/trace/tooloutput"
)

// The catalog names formats, pkg/trace/tooloutput reads them; neither knows the other.
func TestEveryFormatOfTheCatalogIsReadByTrace(t *testing.T) {
	known := tooloutput.Formats()
	for _, tool := range catalog.New(catalog.Config{}).Tools() {
		for _, f := range tool.Forms {
			if f.Format != "" && !slices.Contains(known, f.Format) && !strings.HasPrefix(f.Format, "errorformat:") {
				t.Errorf("tool %s: no parser for format %q", tool.ID, f.Format)
			}
		}
	}
}
