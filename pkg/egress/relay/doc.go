// Package relay copies data between two connections in both directions at once.
//
//	sent, received, err := relay.Both(client, server, relay.Stream, relay.Stream)
//
// # Contract
//
// The end of a stream is passed on as a half-close, and the other direction
// continues. An error on either side is passed on as a reset: both connections
// are closed with an RST, by SO_LINGER with timeout 0, tcp(7). No time limit
// cuts a stream. A slow reader stops its writer: at most one buffer is in
// flight.
//
// Between TCP connections on Linux a stream that has filled its buffer
// continues with splice(2), through [net.TCPConn.ReadFrom], without a copy in
// the process. An idle stream holds neither a buffer nor a pipe until it has
// moved that much.
//
// # Limits
//
// TCP urgent data is not passed on.
package relay
