package observe

import "net/netip"

// Need is something that was asked for and is not to be had inside.
type Need struct {
	Path    string         // absolute inside; "" for an address
	Address netip.AddrPort // outside of the machine
	Write   bool
	Socket  bool // it was to be connected to
	Process string
	Call    string
	Count   int
	Last    int // a later one has a higher number
}

// key tells needs apart.
type key struct {
	owner         int // whose it is, where several are told apart
	path          string
	address       netip.AddrPort
	write, socket bool
}

// maxNeeds bounds what is kept of one tree.
const maxNeeds = 4096

// memory keeps needs.
type memory struct {
	needs map[key]*Need
	clock int
	more  int // needs there was no room for
}

// of takes the needs of one owner out.
func (m *memory) of(owner int) (list []Need) {
	for k, n := range m.needs {
		if k.owner == owner {
			list = append(list, *n)
			delete(m.needs, k)
		}
	}
	return list
}

// note counts a need, and reports the one that is new.
func (m *memory) note(k key) *Need {
	m.clock++
	if n := m.needs[k]; n != nil {
		n.Count++
		n.Last = m.clock
		return nil
	}
	if len(m.needs) >= maxNeeds {
		m.more++
		return nil
	}
	if m.needs == nil {
		m.needs = map[key]*Need{}
	}
	n := &Need{Path: k.path, Address: k.address, Write: k.write, Socket: k.socket, Count: 1, Last: m.clock}
	m.needs[k] = n
	return n
}
