package egressclients

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is a name server of the world: what it answers, and what it was asked.
type zone struct {
	mu    sync.Mutex
	names map[string]*entry
	asked map[string]int // questions by name and type
}

// entry is a name of the zone. The nth question for one type is answered by
// the nth of turns, and each later one by the last.
type entry struct {
	turns [][]netip.Addr
	alias string // CNAME
}

// set gives a name its addresses, turn by turn.
func (z *zone) set(name string, turns ...[]netip.Addr) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = &entry{turns: turns}
}

func (z *zone) alias(name, to string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = &entry{alias: to}
}

// wasAsked reports a question for a name that contains a text.
func (z *zone) wasAsked(part string) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for question := range z.asked {
		if strings.Contains(question, part) {
			return true
		}
	}
	return false
}

// answer replies to one query, with a TTL of 0.
func (z *zone) answer(query []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil
	}
	q, err := parser.Question()
	if err != nil {
		return nil
	}
	header.Response, header.RecursionAvailable = true, true
	reply := dnsmessage.Message{Header: header, Questions: []dnsmessage.Question{q}}
	z.mu.Lock()
	defer z.mu.Unlock()
	if !z.resolve(&reply, strings.ToLower(strings.TrimSuffix(q.Name.String(), ".")), q.Type) {
		reply.RCode = dnsmessage.RCodeNameError
	}
	packed, err := reply.Pack()
	if err != nil {
		return nil
	}
	return packed
}

func (z *zone) resolve(reply *dnsmessage.Message, name string, kind dnsmessage.Type) bool {
	question := name + " " + kind.String()
	turn := z.asked[question]
	z.asked[question]++
	e := z.names[name]
	if e == nil {
		return false
	}
	add := func(kind dnsmessage.Type, body dnsmessage.ResourceBody) {
		head := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name + "."), Type: kind, Class: dnsmessage.ClassINET}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: body})
	}
	if e.alias != "" {
		add(dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(e.alias + ".")})
		return z.resolve(reply, e.alias, kind)
	}
	for _, addr := range e.turns[min(turn, len(e.turns)-1)] {
		switch {
		case addr.Is4() && kind == dnsmessage.TypeA:
			add(kind, &dnsmessage.AResource{A: addr.As4()})
		case addr.Is6() && kind == dnsmessage.TypeAAAA:
			add(kind, &dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
	}
	return true
}

// serve answers at port 53 of an address, by UDP and TCP.
func (z *zone) serve(address string) {
	packets(net.JoinHostPort(address, "53"), z.answer)
	listen("tcp", net.JoinHostPort(address, "53"), func(c net.Conn) {
		var size [2]byte
		for {
			if _, err := io.ReadFull(c, size[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			reply := z.answer(query)
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
		}
	})
}

// addrs parses addresses.
func addrs(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}
