// Package relay copies between two connections, both ways at once.
//
//	sent, received, err := relay.Both(client, server, relay.Stream, relay.Stream)
//
// # Contract
//
// The end of a stream is passed on as a half-close, and the other direction
// goes on. An error of either side is passed on as a reset: both connections
// are closed with an RST, as tcp(7) does it for SO_LINGER of 0. Nothing is cut
// by a time limit. A slow reader stops its writer: at most one buffer is in
// flight.
//
// Between TCP connections of Linux a stream that fills its buffer continues
// with splice(2), by way of [net.TCPConn.ReadFrom], without a copy in the
// process. A stream that rests holds neither a buffer nor a pipe until it has
// moved as much.
//
// # Limits
//
// TCP urgent data is not passed on.
package relay
