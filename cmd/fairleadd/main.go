// Command fairleadd is the Fairlead server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/fairlead-dev/fairlead/internal/app"
)

var version = "dev" // set by the linker

// cli is the server's command line.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Serve a catalog as the configuration says."`
	Demo    demoCmd    `cmd:"" help:"Make a small company's repositories on the spot and serve them."`
	Migrate migrateCmd `cmd:"" help:"Bring the state's database up to this version, and end."`
	Policy  policyCmd  `cmd:"" help:"Policy as code: check and test it."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// The exit codes: 0 done, 1 failed, 2 bad usage or configuration.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	if code, ran := app.Supervise(os.Args[1:]); ran {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("fairleadd"), kong.Description("The Fairlead server: one catalog, three doors, one lock."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)), kong.Exit(func(c int) { code = c }))
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return exitFailed
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case len(args) == 1 && args[0] == "--version":
		args = []string{"version"}
	}
	parsed, err := parser.Parse(args)
	if code >= 0 {
		return code
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\nfix: See `fairleadd --help`.\n", err)
		return exitUsage
	}
	return exitCode(parsed.Run())
}

func exitCode(err error) int {
	var config *app.ConfigError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &config):
		fmt.Fprintln(os.Stderr, config.Error())
		return exitUsage
	default:
		fmt.Fprintln(os.Stderr, "error:", message(err))
		return exitFailed
	}
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	fmt.Println("fairleadd", version)
	return nil
}
