package quantity

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1048576": 1 << 20, "512K": 512 << 10, "512k": 512 << 10, "512M": 512 << 20, "1.5G": 3 << 29, "2GiB": 2 << 30,
		"2gib": 2 << 30, "1T": 1 << 40, "1KB": 1000, "3 MB": 3e6, " 64M ": 64 << 20, "10B": 10, "0.5K": 512,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "+1", "0", "0.1", "1e9", "0x10", "1_000", "inf", "NaN", "1.2.3", "9999999999T", "512 M B", "1P", "١"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]int64{"50%": 50, "150": 150, "12.5%": 12, " 100 % ": 100, "1000000": 1000000} {
		if got, err := ParsePercent(text); err != nil || got != want {
			t.Errorf("ParsePercent(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "0", "0.9%", "-5", "half", "1000001", "50%%", "1e3"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("ParsePercent(%q) = %d, want an error", text, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90": 90 * time.Second, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0.5": time.Second / 2, "1ms": time.Millisecond} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "0s", "-1s", "-1", "soon", "1d", "1e3", "9999999999999", "10 minutes"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}
