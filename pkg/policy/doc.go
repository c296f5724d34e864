// Package policy decides records. Policies come in packs; each is a typed CEL expression over an
// action, its actor and its facts. Begin with [Load] and [Set.Decide]:
//
//	set, err := policy.Load(policy.Options{Packs: []string{"git"}, Sources: sources})
//	decision := set.Decide(ctx, policy.Input{Action: &action, Actor: &actor, Facts: &facts})
//
// # Contract
//
// Decide never fails and never skips a policy. If an expression fails, costs too much, runs out of
// time, or depends on a fact that could not be established, the action is denied, and the decision
// gives the reason. A record without facts is denied. The strictest match wins (deny, ask, warn,
// allow). All matches are reported, in an order that depends only on the policies. The same record
// and the same [Set.Digest] give the same decision, unless the deadline expires.
//
// A policy file is loaded as a whole or not at all. Unknown keys, duplicate ids, unknown
// principles, expressions that do not type-check, and attempts to weaken a protected policy are
// [Faults], with file, line, column and a caret.
//
// # Variables and functions of an expression
//
// The variables are action, actor, shell, git, files, tool, capabilities, tool_capabilities,
// catalog, findings, repo and incomplete, with the types of the structs of pkg/record and their
// JSON names. The constants are the lists of protected.Lists, as paths.NAME. The functions are
// glob, names, under, runs, executes, option, unresolved, touches, scratch, domain, host, hosts,
// remote, unlisted, unseen and loopback, and the strings, lists, sets and math extensions of CEL.
// There is no clock, no network and no file system. A word that is not static (null in the record)
// is "" in an expression; unresolved distinguishes the two. Raw JSON, such as action.input, is its
// text.
//
// # Limits
//
// The shipped packs are precompiled: [Load] without sources parses nothing. A policy whose need is
// not met is not evaluated: a need is derived from the checked expression, and is false only if the
// expression would be false. The other shipped expressions are evaluated directly; CEL evaluates
// those whose value direct evaluation does not know, and all of a consumer.
//
// With the build tag nocel the package has no CEL, and panics with [ErrNeedsCEL] where it would need it.
//
// This is the only package that imports cel-go. Policy files are YAML; only this package and
// pkg/catalog read it.
package policy
