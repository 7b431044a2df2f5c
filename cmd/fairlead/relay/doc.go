// Package relay carries MCP messages between a client that speaks lines of
// JSON on standard input and output and a server that speaks streamable HTTP.
// It understands of a message only what the transport needs: ids, methods and
// the protocol version, of the revisions with sessions as of the stateless one.
package relay
