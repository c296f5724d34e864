package capability

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// NoPort as a list of ports allows no port, because an empty list allows every port.
const NoPort = "none"

// Ports returns the numbers of a list of ports, sorted. limited is false if the list is empty,
// which means every port. The error names the first entry that is not a port. zero permits port 0,
// for which the kernel chooses a port.
func Ports(list []string, zero bool) (numbers []uint16, limited bool, err error) {
	for _, text := range list {
		n, fault := strconv.ParseUint(text, 10, 16)
		switch {
		case text == NoPort && len(list) == 1:
			return nil, true, nil
		case fault != nil || n == 0 && !zero || text != strconv.FormatUint(n, 10):
			return nil, true, fmt.Errorf("%.100q is not a port: use a number up to 65535, or none alone", text)
		}
		numbers = append(numbers, uint16(n))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), len(list) > 0, nil
}

// meetPorts keeps the ports of both. If there is no network, there is no port either.
func meetPorts(f *field, into, a, b *Set) {
	x, y := *of[[]string](f, a), *of[[]string](f, b)
	switch {
	case into.Network.Mode == "none":
		return
	case len(x) == 0:
		*of[[]string](f, into) = union(y)
	case len(y) == 0:
		*of[[]string](f, into) = union(x)
	default:
		both := common(x, y)
		if len(both) == 0 {
			both = []string{NoPort}
		}
		*of[[]string](f, into) = both
	}
}

func exceedsPorts(f *field, parent, child *Set) (value, bound string, more bool) {
	most, have := *of[[]string](f, parent), *of[[]string](f, child)
	switch {
	case len(most) == 0 || child.Network.Mode == "none":
		return "", "", false
	case len(have) == 0:
		return "every port", strings.Join(most, ", "), true
	}
	return listExcess(missing(have, append([]string{NoPort}, most...)), most)
}
