package command

import (
	"log/slog"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/relay"
)

type mcpCmd struct {
	Readonly bool     `help:"Leave out everything that changes something."`
	Toolsets []string `help:"Only these sets of tools, for example catalog." placeholder:"NAME"`
	Verbose  bool     `short:"v" help:"Say more on standard error."`
}

// Help shows examples.
func (mcpCmd) Help() string {
	return `Messages are lines of JSON on standard input and output; they are carried to
the server's /mcp with your token. Logs go to standard error. The command
ends when standard input does.

Examples:

  claude mcp add fairlead -- fairlead mcp
  fairlead mcp --readonly --toolsets catalog
  {"mcpServers": {"fairlead": {"command": "fairlead", "args": ["mcp"]}}}`
}

// Run carries messages.
func (m *mcpCmd) Run(c *console) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if m.Verbose {
		level = slog.LevelDebug
	}
	return relay.Run(c.ctx, relay.Config{
		Server: cl, Path: m.path(), In: c.In, Out: c.Out, Timeout: c.Timeout,
		Log: slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: level})),
	})
}

func (m *mcpCmd) path() string {
	path := "/mcp"
	if m.Readonly {
		path += "/readonly"
	}
	if len(m.Toolsets) > 0 {
		path += "?toolsets=" + url.QueryEscape(strings.Join(m.Toolsets, ","))
	}
	return path
}
