package dns

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// Names supplies what is known about names. Its methods are called
// concurrently.
type Names interface {
	// Lookup decides on a name, given in the client's spelling without the
	// final dot.
	Lookup(ctx context.Context, name string) Answer

	// Reverse returns the name that belongs to an address.
	Reverse(addr netip.Addr) (string, bool)
}

// Status is the outcome of a lookup.
type Status int

const (
	Refused Status = iota // REFUSED: not a question that this server answers
	Blocked               // NXDOMAIN, "Blocked": the name may not be reached
	Found                 // the addresses, or an empty answer if there are none
	Absent                // NXDOMAIN: there is no such name
	Failed                // SERVFAIL: a temporary failure
)

// Answer is the result of looking up one name.
type Answer struct {
	Status Status
	Addrs  []netip.Addr // IPv4 and IPv6, when Found
}

// Transport is the size limit of a response in bytes.
type Transport int

const (
	UDP Transport = 1232  // DNS flag day 2020; a client that offers less gets a smaller limit
	TCP Transport = 65535 // RFC 1035, section 4.2.2
)

const (
	headerLen   = 12
	minUDP      = 512 // RFC 1035, section 4.2.1
	ttl         = 60  // seconds; an address is never reused for another name
	badVersion  = dnsmessage.RCode(16)
	optionEDE   = 15 // RFC 8914, section 2: the option
	codeBlocked = 15 // RFC 8914, section 4.16: its code "Blocked"
)

// query holds the parts of a message that determine the answer.
type query struct {
	header   dnsmessage.Header
	question dnsmessage.Question
	asked    bool // the message has a question
	edns     bool
	limit    int // largest response in bytes that the client accepts
	rcode    dnsmessage.RCode
}

// Respond returns the response to one message, or nil if the message gets none.
func Respond(ctx context.Context, message []byte, transport Transport, names Names) []byte {
	if len(message) < headerLen || message[2]&0x80 != 0 { // QR: a response
		return nil
	}
	q := read(message, transport)
	answer, target := Answer{Status: Found}, ""
	if q.rcode == dnsmessage.RCodeSuccess {
		answer, target = resolve(ctx, q.question, names)
	}
	response, err := q.build(answer, target, false)
	if err == nil && len(response) > q.limit {
		response, err = q.build(answer, target, true)
	}
	if err != nil || len(response) > q.limit {
		return nil
	}
	return response
}

// read parses a message. What it cannot interpret is recorded as the rcode.
func read(message []byte, transport Transport) query {
	q := query{limit: int(transport)}
	if transport == UDP {
		q.limit = minUDP
	}
	var p dnsmessage.Parser
	header, err := p.Start(message)
	q.header = header
	if err != nil {
		q.header.ID = binary.BigEndian.Uint16(message)
		q.rcode = dnsmessage.RCodeFormatError
		return q
	}
	if header.OpCode != 0 {
		q.rcode = dnsmessage.RCodeNotImplemented
		return q
	}
	q.rcode = dnsmessage.RCodeFormatError
	if binary.BigEndian.Uint16(message[4:]) != 1 { // QDCOUNT
		return q
	}
	if q.question, err = p.Question(); err != nil || p.SkipAllQuestions() != nil {
		return q
	}
	q.asked = true
	if p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil || !q.readAdditionals(&p, transport) {
		return q
	}
	if q.rcode == dnsmessage.RCodeFormatError {
		q.rcode = dnsmessage.RCodeSuccess
	}
	return q
}

// readAdditionals looks for the EDNS record, RFC 6891. It returns false for a
// malformed message.
func (q *query) readAdditionals(p *dnsmessage.Parser, transport Transport) bool {
	for {
		h, err := p.AdditionalHeader()
		if err == dnsmessage.ErrSectionDone {
			return true
		}
		if err != nil {
			return false
		}
		if h.Type == dnsmessage.TypeOPT {
			if q.edns || h.Name.String() != "." {
				return false
			}
			q.edns = true
			if transport == UDP {
				q.limit = min(max(minUDP, int(h.Class)), int(UDP))
			}
			if h.TTL>>16&0xff != 0 { // VERSION
				q.rcode = badVersion
			}
		}
		if p.SkipAdditional() != nil {
			return false
		}
	}
}

func resolve(ctx context.Context, q dnsmessage.Question, names Names) (answer Answer, target string) {
	if q.Class != dnsmessage.ClassINET && q.Class != dnsmessage.ClassANY || transfers(q.Type) {
		return Answer{Status: Refused}, ""
	}
	name := strings.TrimSuffix(q.Name.String(), ".")
	if addr, ok := reverseName(name); ok {
		if target, ok = names.Reverse(addr); !ok {
			return Answer{Status: Absent}, ""
		}
		return Answer{Status: Found}, target
	}
	if name == "" { // the root
		return Answer{Status: Refused}, ""
	}
	return names.Lookup(ctx, name), ""
}

// transfers reports whether the type asks for a zone transfer or mailbox data:
// 251 to 254.
func transfers(t dnsmessage.Type) bool { return t >= 251 && t <= 254 }

// build encodes a response. If truncated is set, it leaves out the records and
// sets the TC bit.
func (q query) build(answer Answer, target string, truncated bool) ([]byte, error) {
	rcode := q.rcode
	if rcode == dnsmessage.RCodeSuccess {
		rcode = rcodes[answer.Status]
	}
	b := dnsmessage.NewBuilder(make([]byte, 0, minUDP), dnsmessage.Header{
		ID: q.header.ID, Response: true, OpCode: q.header.OpCode, RecursionDesired: q.header.RecursionDesired,
		RecursionAvailable: true, CheckingDisabled: q.header.CheckingDisabled, Truncated: truncated, RCode: rcode & 0xf,
	})
	b.EnableCompression()
	var err error
	try := func(step func() error) {
		if err == nil {
			err = step()
		}
	}
	try(b.StartQuestions)
	if q.asked {
		try(func() error { return b.Question(q.question) })
	}
	try(b.StartAnswers)
	if !truncated && rcode == dnsmessage.RCodeSuccess {
		try(func() error { return q.records(&b, answer.Addrs, target) })
	}
	if q.edns {
		try(b.StartAdditionals)
		try(func() error { return opt(&b, rcode, answer.Status == Blocked) })
	}
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

var rcodes = [...]dnsmessage.RCode{
	Refused: dnsmessage.RCodeRefused, Blocked: dnsmessage.RCodeNameError, Found: dnsmessage.RCodeSuccess,
	Absent: dnsmessage.RCodeNameError, Failed: dnsmessage.RCodeServerFailure,
}

// records writes the answer section: the records of the requested type.
func (q query) records(b *dnsmessage.Builder, addrs []netip.Addr, target string) error {
	h := dnsmessage.ResourceHeader{Name: q.question.Name, Class: dnsmessage.ClassINET, TTL: ttl}
	wants := func(t dnsmessage.Type) bool { return q.question.Type == t || q.question.Type == dnsmessage.TypeALL }
	if target != "" && wants(dnsmessage.TypePTR) {
		name, err := dnsmessage.NewName(target + ".")
		if err != nil {
			return err
		}
		return b.PTRResource(h, dnsmessage.PTRResource{PTR: name})
	}
	for _, addr := range addrs {
		var err error
		switch {
		case addr.Is4() && wants(dnsmessage.TypeA):
			err = b.AResource(h, dnsmessage.AResource{A: addr.As4()})
		case addr.Is6() && wants(dnsmessage.TypeAAAA):
			err = b.AAAAResource(h, dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// opt writes the EDNS record, with the extended error if the name is blocked.
func opt(b *dnsmessage.Builder, rcode dnsmessage.RCode, blocked bool) error {
	var h dnsmessage.ResourceHeader
	if err := h.SetEDNS0(int(UDP), rcode, false); err != nil {
		return err
	}
	var r dnsmessage.OPTResource
	if blocked {
		r.Options = []dnsmessage.Option{{Code: optionEDE, Data: []byte{0, codeBlocked}}}
	}
	return b.OPTResource(h, r)
}
