// Package hello reads the ClientHello of TLS from a stream without changing it.
//
//	first, err := hello.Read(conn)
//	if first.TLS && first.ServerName != judged { … }
//	upstream.Write(first.Raw)
//
// # Contract
//
// Read returns every byte that it has read, in Raw and Rest. A stream that a TLS server could take
// for TLS but that does not begin with one well-formed ClientHello is an error. Records and
// extensions are parsed as strictly as RFC 8446 defines them, so that no server sees another name
// in them. For a stream that is not TLS, Read returns the first bytes. [MaxLen] limits the memory.
//
// A client sends a second ClientHello after a HelloRetryRequest; [Retry] recognises one, and
// [ReadSecond] reads the second hello.
//
// # Limits
//
// The hello says what the client asks for, not which server answers. With encrypted ClientHello
// (ECH) the visible name is the outer one. STARTTLS is not recognised.
package hello
