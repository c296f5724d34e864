// Package head reads the head of an HTTP/1 request as strictly as RFC 9112
// writes it, so that no two readers see two requests in it.
//
//	raw, rest, err := head.Read(conn, head.Limit)
//	request, err := head.Parse(raw)
//
// # Contract
//
// What parsers are known to disagree about is an error and is never mended:
// bare CR and LF, folded lines, space around a field name, control characters,
// Content-Length together with Transfer-Encoding or twice or not in plain
// digits, a coding other than chunked, a missing or second Host, an
// absolute-form target whose host is not that of Host.
//
// # Limits
//
// HTTP/0.9 and HTTP/2 are errors. Bodies are not read.
package head
