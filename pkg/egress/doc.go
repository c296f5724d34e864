// Package egress lets programs reach the destinations that rules name, and no
// others, whether or not they know of a proxy.
//
//	gateway, err := egress.New(egress.Config{Rules: rules, Sink: sink})
//	go gateway.ServeDNS(ctx, packetConn)
//	go gateway.ServeTransparent(ctx, listener)
//	go gateway.ServeProxy(ctx, proxyListener)
//
// The transparent door needs a network namespace in which the ranges of the
// name table are local and no other route leads out (AnyIP: a route of type
// "local" to lo, ip-route(8)). The name server gives an allowed name an address
// of the table; a connection to that address can only mean that name. Sockets
// made inside the namespace and served from outside of it make the door: a
// socket stays in the namespace where it was made, network_namespaces(7).
//
// The explicit proxy takes HTTP CONNECT, plain HTTP requests and SOCKS5 on one
// port, told apart by the first byte.
//
// # Contract
//
// At every door: the name is judged, then resolved, then each address is
// judged, then a judged address is dialled, never the name again. So a name
// that resolves to a private address, now or a moment later, gains nothing.
//
// A TLS client must name the judged host in its ClientHello unless
// [Config.SNI] says otherwise. The hello is read and never changed.
//
// [Intercept] opens the TLS of the hosts that it names, by a certificate of
// the user's authority: their requests are judged by method and path, and
// credentials put in that the program does not have. It is off by default.
//
// Each connection that a door took, allowed or not, is one [Event], and so is
// each name that the name server refused, once.
//
// A refused transparent connection is reset. Streams end as their peers end
// them, by a half-close or a reset; nothing is cut by a time limit while both
// peers keep it. Heads and handshakes that do not arrive in time are.
//
// # Limits
//
// What goes to an allowed host is not judged: not the content, and not, within
// TLS or on plain connections, a Host field. Behind an upstream proxy the
// addresses cannot be judged, because it resolves the names. UDP but DNS is not
// carried. A client that speaks first, and whose first message is shorter than
// six bytes and could begin a TLS record, is held up as one. An event is kept in memory until its connection ends.
package egress
