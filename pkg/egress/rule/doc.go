// Package rule says which destinations a program may reach: patterns of names
// and addresses, their composition, and the judgement of one destination.
//
//	allow, err := rule.ParseSet([]string{"*.example.com", "db.corp:5432"})
//	rules := rule.Rules{Allow: allow}
//	host, port, err := rule.ParseAuthority("registry.example.com:443", 0)
//	verdict := rules.Destination(host, port)
//
// # Contract
//
// A destination is judged in its one normal form, [Host]: a name case-folded,
// in IDNA A-labels (UTS 46, non-transitional), without its trailing dot; or an
// address, whatever its spelling was (octal, hexadecimal, short, IPv4-mapped).
// What has no normal form is refused. Whoever dials must dial the normal form,
// never the text that was judged.
//
// A name is judged by [Rules.Destination] before it is resolved, and each
// address that it resolves to by [Rules.Address] before it is dialled. An
// address of a special block (loopback, private, link-local, multicast,
// metadata service, …: [Classify]) is refused unless a pattern lies inside that
// block: neither "*" nor 0.0.0.0/0 opens one.
//
// An empty allow-list allows nothing. A deny pattern wins over every allow
// pattern. [Rules.Within] only narrows: what two rule sets allow together is
// exactly what each of them allows.
//
// # Limits
//
// The package resolves nothing and opens no socket. A name that is allowed
// says nothing about the content that its server serves.
package rule
