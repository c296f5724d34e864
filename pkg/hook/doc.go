// Package hook speaks with coding agents: the events that their hooks report come in, the answers that they obey go out.
//
// [Decode] reads one event of a dialect into the action it is about, [Documents] cuts a stream into events; [Reply] answers.
//
// # Contract
//
// Decoding is strict about what it needs and tolerant about the rest. An event for a shell, file, fetch or MCP tool whose payload cannot be read is
// an error, so that it is refused and not overlooked; every other event is kind event, which is never executed. So is a report of what
// has been done already (PostToolUse and its kin): running it once more would be wrong.
//
// What an event says of itself is not trusted to widen anything: permission_mode can name a mode, nothing can set admin_approved.
//
// # Limits
//
// Which tools run commands or touch files is a table a dialect. A tool that is in no table is kind event, with its name in actor.tool for policy to
// judge. Dialects were written from their published documentation; those of Codex, Gemini CLI and OpenCode were also seen on the wire.
package hook
