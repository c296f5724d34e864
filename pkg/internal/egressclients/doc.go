// Package egressclients tests real clients against real servers through
// ethos-sandbox, with and without proxy variables.
//
// It exports nothing. Its tests run in an isolated environment: a network
// namespace with servers at addresses of global class, a name server, and
// private /etc/resolv.conf and /etc/hosts. Each client runs there three ways:
// without a sandbox, which shows that the client and the server work; in a
// sandbox that allows the name; and in one that does not.
//
// Limits: Linux. The tests need iproute2 and, for an ordinary user, user
// namespaces. Each client is a need of its test, see probetest.
package egressclients
