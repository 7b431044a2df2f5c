package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The exit codes.
const (
	exitNo          = 1 // the answer is no
	exitUsage       = 2
	exitRefused     = 3
	exitNotFound    = 4
	exitUnavailable = 5
	exitSignal      = 128 // and the signal's number
)

// Streams are what a command reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Env gives environment variables.
	Env func(string) string
	// Environ gives the environment that commands are run in, nil for an empty
	// one.
	Environ func() []string
	// Version is the program's version.
	Version string
}

// signalled is why a context ended that a signal ended.
type signalled struct{ signal syscall.Signal }

// Error names the signal.
func (s signalled) Error() string { return s.signal.String() }

// errNo ends a command whose answer is no, and that has said why.
var errNo = errors.New("the answer is no")

// Main runs the command line until it is done or a signal ends it, and gives
// the exit code.
func Main(args []string, s Streams) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		select {
		case sig := <-signals:
			number, _ := sig.(syscall.Signal)
			cancel(signalled{number})
			signal.Stop(signals) // a second one ends the program the hard way
		case <-ctx.Done():
		}
	}()
	return Run(ctx, args, s)
}

// exited carries the code that the parser wants to exit with.
type exited struct{ code int }

// Run runs the command line and gives the exit code.
func Run(ctx context.Context, args []string, s Streams) (code int) {
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = e.code
		}
	}()
	var c cli
	parser, err := newParser(&c, s)
	if err != nil {
		fmt.Fprintln(s.Err, "error:", err)
		return exitUsage
	}
	con := &console{ctx: ctx, Streams: s, globals: &c.globals}
	if complete(parser, con) {
		return 0
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case len(args) == 1 && args[0] == "--version":
		args = []string{"version"}
	}
	args, con.command = splitCommand(args)
	k, err := parser.Parse(args)
	if err == nil {
		err = con.choose(k)
	}
	if err != nil {
		return con.report(usage(err, k, parser))
	}
	return con.report(k.Run(con))
}

func newParser(c *cli, s Streams) (*kong.Kong, error) {
	return kong.New(c, kong.Name("fairlead"),
		kong.Description("Ask a Fairlead server about services, their owners, dependencies and runbooks; check catalog files offline.\n\n"+
			"Exit codes: 0 done, 1 the answer is no (a check found errors, a source fails, something exists already, too little is known, a deployment is not healthy), "+
			"2 bad usage, 3 refused, 4 not found, 5 unavailable."),
		kong.ExplicitGroups([]kong.Group{{Key: "all", Title: "Flags of all commands:"}}),
		kong.Writers(s.Out, s.Err), kong.Exit(func(code int) { panic(exited{code}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
}

// usage makes a fault of what the parser says.
func usage(err error, k *kong.Context, parser *kong.Kong) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	var parse *kong.ParseError
	command := "fairlead"
	if errors.As(err, &parse) && parse.Context != nil {
		k = parse.Context
	}
	if k != nil && k.Selected() != nil {
		command = k.Selected().FullPath()
	}
	return fault.New(fault.Invalid, "%s", strings.TrimSuffix(err.Error(), ".")).WithFix("See `%s --help`.", command)
}

// report tells what went wrong and gives the exit code.
func (c *console) report(err error) int {
	var sig signalled
	var ran childExit
	switch {
	case errors.As(err, &ran):
		return int(ran)
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return exitNo
	case errors.As(err, &sig), errors.As(context.Cause(c.ctx), &sig):
		return exitSignal + int(sig.signal)
	case errors.Is(err, syscall.EPIPE):
		return 0 // whoever reads has seen enough
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		f = fault.New(fault.Internal, "%v", err)
	}
	p := render.NewPage(c.Err, render.Options{Color: c.colors(c.Err)})
	p.Line(p.Bad("error:"), " ", render.Clean(f.Message))
	if f.Fix != "" {
		p.Line("fix: ", render.Clean(f.Fix))
	}
	return exitCode(f.Code)
}

// exitCode is how the program ends for a fault.
func exitCode(code fault.Code) int {
	switch code {
	case fault.Invalid:
		return exitUsage
	case fault.Unauthenticated, fault.Forbidden, fault.ApprovalRequired, fault.QuotaExceeded:
		return exitRefused
	case fault.NotFound:
		return exitNotFound
	case fault.Unavailable, fault.Internal:
		return exitUnavailable
	default: // conflict, failed_precondition
		return exitNo
	}
}
