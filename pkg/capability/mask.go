package capability

import (
	"fmt"
	"strings"
)

// Mask reads an entry of masks, "FILE=FAKE": FILE, which has no "=" in it, shows the
// content of the file FAKE; "" shows none.
func Mask(text string) (file, fake string, err error) {
	file, fake, found := strings.Cut(text, "=")
	if !found || file == "" {
		return "", "", fmt.Errorf("%q is not FILE=FAKE, or FILE= for no content", text)
	}
	return file, fake, nil
}

// absoluteMask makes both paths of an entry absolute.
func absoluteMask(dir, text string) string {
	file, fake, found := strings.Cut(text, "=")
	if !found {
		return text
	}
	return absolute(dir, file) + "=" + absolute(dir, fake)
}
