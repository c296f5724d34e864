package observe

import "net/netip"

// Need is a path or an address that was asked for and is not available inside.
// Path and Process are what the command has chosen, and may contain any byte
// but NUL. Whoever prints them must escape them. Path is as the command wrote
// it, with "..", links and repeated slashes.
type Need struct {
	Path    string         // absolute, inside; "" for an address
	Address netip.AddrPort // not on this machine
	Write   bool
	Socket  bool // a connection to it was attempted
	Process string
	Call    string
	Count   int
	Last    int // a later need has a higher number
}

// key identifies a need.
type key struct {
	owner         int // the owning command, if commands are distinguished
	path          string
	address       netip.AddrPort
	write, socket bool
}

// maxNeeds bounds the needs that are kept for one tree. The command chooses the
// names, so it could use up the memory of this process otherwise.
const maxNeeds = 4096

// memory keeps needs.
type memory struct {
	needs map[key]*Need
	clock int
	more  int // needs for which there was no room
}

// of removes the needs of one owner and returns them.
func (m *memory) of(owner int) (list []Need) {
	for k, n := range m.needs {
		if k.owner == owner {
			list = append(list, *n)
			delete(m.needs, k)
		}
	}
	return list
}

// note counts a need, and returns it if it is new, else nil.
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
