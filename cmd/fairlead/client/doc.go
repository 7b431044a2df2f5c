// Package client knows which server the command line talks to and as whom,
// and talks to its native REST API.
package client
