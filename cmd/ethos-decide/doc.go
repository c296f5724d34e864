// Ethos-decide decides action records: it reads NDJSON lines that ethos-facts wrote, adds a decision to each, and writes them on.
//
// With --reply it answers an agent's hook protocol instead. Its commands check, list, explain and replay are for those who write policies.
// The rules themselves are pkg/policy's; this program finds the policy files, applies approvals and the mode, and reports.
package main
