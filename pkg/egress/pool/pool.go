// Package pool assigns addresses to names, one address per name and family,
// from a range that is routed to the loopback interface of a network namespace.
//
//	table, err := pool.New(pool.DefaultIPv4, pool.DefaultIPv6)
//	v4, v6, ok := table.Assign("example.com")
//	name, ok := table.Name(v4)
//
// # Contract
//
// An assigned address belongs to its name for the life of the table. The table
// evicts nothing, so a connection to an address identifies the name. A full
// table assigns no more addresses. A Table is safe for concurrent use.
//
// # Limits
//
// A name costs its length and about 100 bytes. The size of the IPv4 range
// limits the number of names.
package pool

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
)

// The default ranges: benchmarking (RFC 2544) and discard-only (RFC 6666)
// addresses, which no host on the Internet has.
func DefaultIPv4() netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18}), 15) }
func DefaultIPv6() netip.Prefix { return netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 1}), 64) }

// Table maps names to addresses and back.
type Table struct {
	v4, v6 netip.Prefix
	size   int

	mu    sync.RWMutex
	index map[string]int
	names []string
}

// New returns an empty table over an IPv4 and an IPv6 range. Either may be the
// zero prefix, for a namespace without that family.
func New(v4, v6 netip.Prefix) (*Table, error) {
	size := 1 << 20
	for _, p := range []netip.Prefix{v4, v6} {
		if p != p.Masked() {
			return nil, errors.New("address range " + p.String() + ": has bits beyond its length")
		}
		if p.IsValid() {
			size = min(size, 1<<min(20, p.Addr().BitLen()-p.Bits())-2) // without the first and the last address
		}
	}
	if v4.IsValid() && !v4.Addr().Is4() || v6.IsValid() && !v6.Addr().Is6() || !v4.IsValid() && !v6.IsValid() || size < 1 {
		return nil, errors.New("address ranges: want an IPv4 and an IPv6 network with room for a name")
	}
	return &Table{v4: v4, v6: v6, size: size, index: map[string]int{}}, nil
}

// Assign returns the addresses of a name; the first call for a name assigns
// them. The address of a family that the table does not have is invalid. ok is
// false if the table is full.
func (t *Table) Assign(name string) (v4, v6 netip.Addr, ok bool) {
	t.mu.RLock()
	i, known := t.index[name]
	t.mu.RUnlock()
	if !known {
		if i, ok = t.add(name); !ok {
			return netip.Addr{}, netip.Addr{}, false
		}
	}
	return at(t.v4, i), at(t.v6, i), true
}

func (t *Table) add(name string) (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, known := t.index[name]; known {
		return i, true
	}
	if len(t.names) >= t.size {
		return 0, false
	}
	i := len(t.names)
	t.names = append(t.names, name)
	t.index[name] = i
	return i, true
}

// Name returns the name that an address was assigned to.
func (t *Table) Name(addr netip.Addr) (string, bool) {
	addr = addr.Unmap()
	t.mu.RLock()
	defer t.mu.RUnlock()
	i, ok := place(t.v4, addr)
	if !ok {
		i, ok = place(t.v6, addr)
	}
	if !ok || i >= uint64(len(t.names)) {
		return "", false
	}
	return t.names[i], true
}

// Contains reports whether an address lies in the ranges, assigned or not.
func (t *Table) Contains(addr netip.Addr) bool {
	addr = addr.Unmap()
	return t.v4.Contains(addr) || t.v6.Contains(addr)
}

// at returns address i of a range, counted from the second address.
func at(p netip.Prefix, i int) netip.Addr {
	if !p.IsValid() {
		return netip.Addr{}
	}
	b := p.Addr().As16()
	low := binary.BigEndian.Uint64(b[8:]) + uint64(i) + 1
	binary.BigEndian.PutUint64(b[8:], low)
	if p.Addr().Is4() {
		return netip.AddrFrom16(b).Unmap()
	}
	return netip.AddrFrom16(b)
}

// place is the inverse of at.
func place(p netip.Prefix, addr netip.Addr) (uint64, bool) {
	if !p.Contains(addr) || addr == p.Addr() {
		return 0, false
	}
	a, b := addr.As16(), p.Addr().As16()
	if p.Addr().Is6() && binary.BigEndian.Uint64(a[:8]) != binary.BigEndian.Uint64(b[:8]) {
		return 0, false
	}
	return binary.BigEndian.Uint64(a[8:]) - binary.BigEndian.Uint64(b[8:]) - 1, true
}
