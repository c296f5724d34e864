package policy

import (
	"encoding/binary"
	"errors"
)

// A checked expression in packed form is its tree in prefix order. Each node has a tag, the name of
// its type if that is a record struct (the planner reads no other), the overloads or the variable
// to which the checker resolved it, and its parts. Source positions are omitted; node ids are
// assigned anew, in order. Strings are preceded by their length; numbers are varints.

// The tags of packed nodes and literals.
const (
	tagLiteral = iota + 1
	tagIdent
	tagSelect
	tagHas
	tagCall
	tagMember
	tagList
	tagFold
	tagMap
)

const (
	tagNull = iota + 1
	tagFalse
	tagTrue
	tagInt
	tagUint
	tagDouble
	tagString
	tagBytes
)

// errPacked is the error of unpack for text that pack did not write.
var errPacked = errors.New("packed expression is damaged")

// packedText is what is left to read of a packed expression.
type packedText struct {
	in      string
	damaged bool
}

func (p *packedText) spoil() { p.damaged, p.in = true, "" }

// head returns the bytes that a number may take.
func (p *packedText) head() []byte { return []byte(p.in[:min(len(p.in), binary.MaxVarintLen64)]) }

func (p *packedText) number() uint64 {
	n, size := binary.Uvarint(p.head())
	p.skip(size)
	return n
}

func (p *packedText) signed() int64 {
	n, size := binary.Varint(p.head())
	p.skip(size)
	return n
}

// skip drops what was read. A size of zero ends the reading.
func (p *packedText) skip(size int) {
	if size <= 0 {
		p.damaged, size = true, len(p.in)
	}
	p.in = p.in[size:]
}

func (p *packedText) text() string {
	n := p.number()
	if n > uint64(len(p.in)) {
		p.spoil()
		return ""
	}
	s := p.in[:n]
	p.in = p.in[n:]
	return s
}

// count reads a number of elements, each of which takes at least one byte.
func (p *packedText) count() int {
	n := p.number()
	if n > uint64(len(p.in)) {
		p.spoil()
		return 0
	}
	return int(n)
}

func (p *packedText) texts() []string {
	all := make([]string, p.count())
	for i := range all {
		all[i] = p.text()
	}
	return all
}
