// Ethos-mcp is the MCP server that `ethos-decide mcp` becomes. It is a program of its own
// so that no hook waits for its library to be initialised.
package main
