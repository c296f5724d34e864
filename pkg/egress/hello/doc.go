// Package hello reads the ClientHello of TLS off a stream without changing it.
//
//	first, err := hello.Read(conn)
//	if first.TLS && first.ServerName != judged { … }
//	upstream.Write(first.Raw)
//
// # Contract
//
// Read returns every byte that it has taken, in Raw and Rest. A stream that a TLS server could take for TLS and that does not begin with
// one well-formed ClientHello is an error: records and extensions are read as
// strictly as RFC 8446 writes them, so that no server sees another name in
// them. A stream that is not TLS is returned with its first bytes. Memory is
// bounded by [MaxLen].
//
// A client sends a second ClientHello after a HelloRetryRequest; [Retry] tells
// when, and Read reads that one too.
//
// # Limits
//
// The hello says what the client asks for, not what the server is. With
// encrypted ClientHello (ECH) the name in it is the outer one. STARTTLS is not
// seen.
package hello
