// Package egressclients runs real clients against real servers through
// ethos-sandbox, with and without proxy variables.
//
// It has no code to call. Its tests run in a world of their own: a network
// namespace with servers at addresses of global class, a name server, and
// private /etc/resolv.conf and /etc/hosts. Each client runs there three ways:
// without a sandbox, which shows that the client and the server work; in a
// sandbox that allows the name; and in one that does not.
//
// Limits: Linux. Needs iproute2, and user namespaces for an ordinary user.
// A client that is not installed is a need of its test, see probetest.
package egressclients
