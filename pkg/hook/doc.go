// Package hook translates between coding agents and ethos: it decodes the events that their hooks
// report, and encodes the answers that they obey.
//
// Begin with [Decode], which decodes one event of a dialect into its action. [Documents] splits a
// stream into events, and [Reply] answers them.
//
// # Contract
//
// Decoding is strict about what it needs and tolerant about the rest. If the payload of an event
// for a shell, file, fetch or MCP tool cannot be read, that is an error, so that the call is
// refused and not overlooked. Every other event has the kind event and is never executed. A report
// of a completed call (PostToolUse and similar events) has the kind event too, because it must not
// run again.
//
// Nothing that an event says about itself can widen rights: permission_mode can name a mode, but no
// field can set admin_approved.
//
// # Limits
//
// Each dialect has a table of the tools that run commands or touch files. A tool that is in no
// table has the kind event, with its name in actor.tool, so that policy can judge it. The dialects
// follow their published documentation; those of Codex, Gemini CLI and OpenCode were also observed
// in use.
package hook
