// Package egress lets programs reach the destinations that rules name, and no others. Programs need
// not know about a proxy.
//
//	gateway, err := egress.New(egress.Config{Rules: rules, Sink: sink})
//	go gateway.ServeDNS(ctx, packetConn)
//	go gateway.ServeTransparent(ctx, listener)
//	go gateway.ServeProxy(ctx, proxyListener)
//
// Transparent connections need a network namespace in which the ranges of the name table are local
// addresses and no other route leads out (AnyIP: a route of type "local" to lo, ip-route(8)). The
// name server gives each allowed name an address from the table, so a connection to that address
// identifies the name. The listening sockets are created inside the namespace and served from
// outside: a socket stays in the namespace in which it was created, network_namespaces(7).
//
// The explicit proxy accepts HTTP CONNECT, plain HTTP requests and SOCKS5 on one port. The first
// byte tells them apart.
//
// # Contract
//
// Every listener first checks the name, then resolves it, then checks each address, then connects
// to a checked address; it never resolves the name again. A name that resolves to a private
// address, now or later, therefore gains nothing.
//
// A TLS client must name the checked host in its ClientHello unless [Config.SNI] says otherwise.
// The gateway reads the hello and never changes it.
//
// [Intercept] terminates the TLS of the hosts that it names, with a certificate from the user's
// authority. It checks their requests by method and path, over HTTP/1 and HTTP/2, and adds
// credentials that the program does not have. It is off by default.
//
// Each accepted connection, allowed or not, produces one [Event]. So does each name that the name
// server refused, once per name.
//
// A refused transparent connection is reset. A stream ends as its peers end it, by a half-close or
// a reset; no time limit cuts it while both peers keep it open. Request heads and handshakes that
// take too long are cut.
//
// # Limits
//
// The gateway does not check what is sent to an allowed host: not the content and, of a Host field,
// only that of the first request at port 80. Behind an upstream proxy it cannot check addresses,
// because the proxy resolves the names. Of UDP it carries DNS only. A client that speaks first,
// with a first message shorter than six bytes that could begin a TLS record, is delayed as if it
// spoke TLS. An event stays in memory until its connection ends.
package egress
