// Ethos-decide decides action records. It reads NDJSON lines that ethos-facts wrote, adds a
// decision to each, and writes them out.
//
// With --reply it answers an agent's hook protocol instead. Its commands check, list, explain and
// replay are for authors of policies. The rules themselves are in pkg/policy; this program finds
// the policy files, applies approvals and the mode, and reports.
package main
