package capability

import (
	"fmt"
	"strings"
)

// Mask parses an entry of masks, "FILE=FAKE". FILE, in which "=" is written as "\=", then shows the
// content of the file FAKE; without FAKE it is empty.
func Mask(text string) (file, fake string, err error) {
	at := 0
	for {
		n := strings.IndexByte(text[at:], '=')
		if n < 0 || at+n == 0 {
			return "", "", fmt.Errorf("%q is not FILE=FAKE, or FILE= for no content", text)
		}
		at += n
		if text[at-1] != '\\' {
			return strings.ReplaceAll(text[:at], `\=`, "="), text[at+1:], nil
		}
		at++
	}
}

// absoluteMask makes both paths of an entry absolute.
func absoluteMask(dir, text string) string {
	file, fake, err := Mask(text)
	if err != nil {
		return text
	}
	return strings.ReplaceAll(absolute(dir, file), "=", `\=`) + "=" + absolute(dir, fake)
}
