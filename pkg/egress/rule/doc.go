// Package rule decides which destinations a program may reach. It holds
// patterns of names and addresses, their composition, and the check of one
// destination.
//
//	allow, err := rule.ParseSet([]string{"*.example.com", "db.corp:5432"})
//	rules := rule.Rules{Allow: allow}
//	host, port, err := rule.ParseAuthority("registry.example.com:443", 0)
//	verdict := rules.Destination(host, port)
//
// # Contract
//
// A destination is checked in its one normal form, [Host]. That is a
// case-folded name in IDNA A-labels (UTS 46, non-transitional) without its
// trailing dot, or an address, whatever its spelling was (octal, hexadecimal,
// short, IPv4-mapped). Text without a normal form is refused. The caller must
// dial the normal form, never the text.
//
// [Rules.Destination] checks a name before it is resolved. [Rules.Address]
// checks each address that the name resolves to before it is dialled. An
// address of a special block (loopback, private, link-local, multicast,
// metadata service, …: [Classify]) is refused unless a pattern lies inside that
// block: neither "*" nor 0.0.0.0/0 allows one.
//
// An empty allow-list allows nothing. A deny pattern overrides every allow
// pattern.
//
// # Limits
//
// The package resolves no names and opens no socket. An allowed name says
// nothing about the content that its server returns.
package rule
