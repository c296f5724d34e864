// Package dns answers DNS queries from what its caller knows of names; it asks
// no other server.
//
//	response := dns.Respond(query, dns.UDP, names)
//	err := dns.ServeUDP(ctx, packetConn, names)
//	err := dns.ServeTCP(ctx, listener, names)
//
// # Contract
//
// [Names] decides on each name before anything else is said about it. A name
// that it refuses is answered REFUSED, with the extended error 15 "Blocked"
// (RFC 8914) to a client that speaks EDNS. A name that it knows has A and AAAA
// records; every other type is an empty answer, so that a client asks for HTTPS
// or SRV records in vain and goes on with addresses. The question comes back
// byte for byte, its case included (0x20).
//
// Respond reads untrusted bytes: it returns a response or nil, and allocates in
// proportion to the query. A message that is a response, or that is too short
// to have a header, gets none, so two servers never talk to each other.
//
// # Limits
//
// One question a message; no zone transfer, no dynamic update, no DNSSEC.
package dns
