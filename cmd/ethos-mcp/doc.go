// Ethos-mcp is the MCP server that `ethos-decide mcp` replaces itself with. It is a separate
// program so that hooks do not pay for initialising its library.
package main
