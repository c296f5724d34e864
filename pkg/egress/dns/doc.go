// Package dns answers DNS queries from what its caller knows about names. It
// never asks another server.
//
//	response := dns.Respond(query, dns.UDP, names)
//	err := dns.ServeUDP(ctx, packetConn, names)
//	err := dns.ServeTCP(ctx, listener, names)
//
// # Contract
//
// [Names] decides on each name first. The answer for a refused name is REFUSED;
// a client that speaks EDNS also gets the extended error 15 "Blocked" (RFC
// 8914). A known name has A and AAAA records. For every other type the answer
// is empty, so a client that asks for HTTPS or SRV records falls back to
// addresses. The question is returned byte for byte, including its case (0x20).
//
// Respond accepts untrusted bytes: it returns a response or nil, and allocates
// in proportion to the query. It does not answer a message that is itself a
// response or is too short for a header, so two servers never keep answering
// each other.
//
// # Limits
//
// One question per message; no zone transfer, no dynamic update, no DNSSEC.
package dns
