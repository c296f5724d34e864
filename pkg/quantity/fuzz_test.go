package quantity

import (
	"strconv"
	"testing"
)

// FuzzParse : what is read as a limit is above 0, and plain numbers mean themselves.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1", "512M", "1.5G", "2GiB", "50%", "90s", "1h30m", "0", "-1", "1e9", "9999999999T", "0x10", "", "."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseSize(text); err == nil && n < 1 {
			t.Errorf("ParseSize(%q) = %d", text, n)
		}
		if n, err := ParsePercent(text); err == nil && (n < 1 || n > 1e6) {
			t.Errorf("ParsePercent(%q) = %d", text, n)
		}
		if d, err := ParseDuration(text); err == nil && d <= 0 {
			t.Errorf("ParseDuration(%q) = %v", text, d)
		}
		if n, err := strconv.ParseUint(text, 10, 32); err == nil && n > 0 {
			if got, err := ParseSize(text); err != nil || got != int64(n) {
				t.Errorf("ParseSize(%q) = %d, %v", text, got, err)
			}
		}
	})
}
