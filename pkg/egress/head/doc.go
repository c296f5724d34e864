// Package head reads the head of an HTTP/1 request. It is as strict as RFC
// 9112, so that no two parsers see different requests in it.
//
//	raw, rest, err := head.Read(conn, head.Limit)
//	request, err := head.Parse(raw)
//
// # Contract
//
// Input that parsers are known to disagree about is an error; the package never
// repairs it: bare CR and LF, folded lines, space around a field name, control
// characters, Content-Length together with Transfer-Encoding, twice, or not in
// plain digits, a transfer coding other than chunked, a missing or second Host,
// an absolute-form target whose host differs from Host.
//
// # Limits
//
// HTTP/0.9 and HTTP/2 are errors. Bodies are not read.
package head
