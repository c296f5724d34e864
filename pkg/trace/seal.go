package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Hash identifies a stored line: "sha256:" and 64 hexadecimal digits.
type Hash string

// Genesis is the prev of the first line of a store.
const Genesis Hash = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

const (
	hashLen    = len(Genesis)
	prevKey    = `,"prev":"`
	hashKey    = `","hash":"`
	sealEnd    = `"}`
	sealLen    = len(prevKey) + hashLen + len(hashKey) + hashLen + len(sealEnd)
	hashPrefix = "sha256:"
)

// seal appends prev and hash to the text of a line (a JSON object without newline) and adds a
// newline. The hash covers every byte before the `,"hash"` member, and so both the line and its
// place in the chain.
func seal(text []byte, prev Hash) ([]byte, Hash) {
	out := make([]byte, 0, len(text)+sealLen+1)
	out = append(out, text[:len(text)-1]...)
	out = append(append(append(out, prevKey...), prev...), '"')
	hash := hashOf(out)
	out = append(append(out, hashKey[1:]...), hash...)
	return append(out, "\"}\n"...), hash
}

func hashOf(covered []byte) Hash {
	sum := sha256.Sum256(covered)
	var b [hashLen]byte
	copy(b[:], hashPrefix)
	hex.Encode(b[len(hashPrefix):], sum[:])
	return Hash(b[:])
}

// sealed is a parsed stored line.
type sealed struct {
	prev, hash Hash
	computed   Hash // what hash must be
}

// unseal parses the seal of a stored line without its newline; ok is false if it has none.
func unseal(text []byte) (sealed, bool) {
	prev, hash, ok := readSeal(text)
	if !ok {
		return sealed{}, false
	}
	covered := text[:len(text)-len(sealEnd)-hashLen-len(hashKey)+1]
	return sealed{prev: prev, hash: hash, computed: hashOf(covered)}, true
}

// readSeal parses prev and hash without computing anything.
func readSeal(text []byte) (prev, hash Hash, ok bool) {
	at := len(text) - sealLen
	if at < 1 || text[0] != '{' {
		return "", "", false
	}
	tail := text[at:]
	cut := func(literal string) {
		ok = ok && bytes.HasPrefix(tail, []byte(literal))
		tail = tail[len(literal):]
	}
	take := func() Hash {
		h := Hash(tail[:hashLen])
		ok = ok && h.valid()
		tail = tail[hashLen:]
		return h
	}
	ok = true
	cut(prevKey)
	prev = take()
	cut(hashKey)
	hash = take()
	cut(sealEnd)
	return prev, hash, ok
}

func (h Hash) valid() bool {
	if len(h) != hashLen || h[:len(hashPrefix)] != hashPrefix {
		return false
	}
	for _, c := range h[len(hashPrefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
