// Package policy decides records: packs of policies, each a typed CEL expression over an action, its actor and its facts.
//
// The two calls you need:
//
//	set, err := policy.Load(policy.Options{Packs: []string{"git"}, Sources: sources})
//	decision := set.Decide(ctx, policy.Input{Action: &action, Actor: &actor, Facts: &facts})
//
// # Contract
//
// Decide never fails and never skips: an expression that errs, costs too much, runs out of time, or hangs on a fact that could not
// be established denies the action, and the decision says so. A record without facts is denied. The strictest match wins (deny, ask, warn,
// allow); all matches are reported, in an order that depends on nothing but the policies. The same record and the same
// [Set.Digest] give the same decision, the deadline aside.
//
// A policy file is loaded whole or not at all: unknown keys, duplicate ids, unknown principles, expressions that do not check,
// and attempts to weaken a protected policy are [Faults], with file, line, column and a caret.
//
// # What an expression sees
//
// The variables action, actor, shell, git, files, tool, capabilities, tool_capabilities, catalog, findings, repo and incomplete, typed from the structs of
// pkg/record by their JSON names; the functions glob, under, runs, executes, option, unresolved, touches, scratch, domain, host, hosts, remote, unlisted, unseen and loopback; and CEL's strings,
// lists, sets and math extensions. No clock, no network, no file system. A word that is not static (null in
// the record) is "" in an expression; unresolved tells the two apart. Raw JSON, such as action.input, is its text.
//
// # Limits
//
// The shipped packs are compiled ahead: [Load] without sources parses nothing, and a record for which no policy's need is met runs no
// CEL. A need is derived from the checked expression and is false only where the expression would be.
//
// This is the only package that imports cel-go. Policy files are YAML; this package and pkg/catalog are the only ones that read it.
package policy
