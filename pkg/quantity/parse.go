package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// sizeUnits are powers of 1024 with and without "iB", and powers of 1000 with "B", as in GNU
// coreutils.
var sizeUnits = [...]struct {
	suffix string
	factor int64
}{
	{"KIB", 1 << 10}, {"MIB", 1 << 20}, {"GIB", 1 << 30}, {"TIB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40},
	{"B", 1},
}

// ParseSize parses a positive number of bytes: 1048576, 512K, 512M, 1.5G, 2GiB. K is 1024, KB is
// 1000. Case does not matter.
func ParseSize(text string) (int64, error) {
	number, factor := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, unit.suffix); ok {
			number, factor = strings.TrimSpace(rest), unit.factor
			break
		}
	}
	value, err := parseDecimal(number)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of bytes such as 512M or 2GiB", text)
	}
	bytes := value * float64(factor)
	if bytes < 1 || bytes >= math.MaxInt64 {
		return 0, fmt.Errorf("size %q is out of range", text)
	}
	return int64(bytes), nil
}

// ParsePercent parses a positive share of one processor: 50%, 150. It rounds down: 12.5% is 12. 100
// is one full processor.
func ParsePercent(text string) (int64, error) {
	value, err := parseDecimal(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")))
	if err != nil {
		return 0, fmt.Errorf("percentage %q is not a number such as 50%% or 150", text)
	}
	if value < 1 || value > 1e6 {
		return 0, fmt.Errorf("percentage %q is out of range; 100 is one processor", text)
	}
	return int64(value), nil
}

// ParseDuration parses a positive time: as time.ParseDuration does (90s, 1h30m), or a plain number
// of seconds, as timeout(1).
func ParseDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, plain := parseDecimal(text)
		if plain != nil {
			return 0, fmt.Errorf("%q is not a time such as 90s, 10m or 1h30m", text)
		}
		if seconds >= math.MaxInt64/float64(time.Second) {
			return 0, fmt.Errorf("duration %q is out of range", text)
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d <= 0 {
		return 0, fmt.Errorf("duration %q is not above 0", text)
	}
	return d, nil
}

// parseDecimal parses digits with at most one decimal point: no sign, exponent, hexadecimal,
// infinity or underscore.
func parseDecimal(text string) (float64, error) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}
