package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/loan"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type credsExecCmd struct {
	Service string `arg:"" optional:"" help:"What lends the credential: a bare name or a reference." predictor:"ref"`
	Name    string `arg:"" optional:"" help:"The credential's name in the service's catalog file."`
	Lease   string `help:"Use this lease, which you or an agent of yours requested before." placeholder:"LEASE" predictor:"lease"`
	order
	Env         []string `help:"Have this variable hold this field of the credential; nothing else is set then." placeholder:"VAR=FIELD" sep:"none"`
	File        []string `help:"Have this variable name a file in memory that holds this field, or all fields as JSON; nothing else is set then." placeholder:"VAR[=FIELD]" sep:"none"`
	VaultCAFile string   `help:"Certificate authorities to trust at Vault besides the system's; else FAIRLEAD_VAULT_CA_FILE." placeholder:"FILE" predictor:"file"`
}

// Help shows examples.
func (credsExecCmd) Help() string {
	return `Usage: fairlead creds exec (SERVICE NAME | --lease LEASE) [flags] -- CMD...

The credential comes from Vault to this command, not through Fairlead. CMD gets
it in its environment: NAME_FIELD in capitals (DB_READONLY_PASSWORD), what the
service's catalog file names, PGUSER and PGPASSWORD of databases, AWS_… of AWS,
and the fields of a KV secret by their own names; with --env or --file only
what they say. Your token is not in it.

What CMD writes comes out with ••• in place of the values, in plain, base64,
hexadecimal and as URLs, JSON, HTML and shells escape them; so CMD's standard
output and error are never a terminal. Values of less than 4 bytes are left.

When CMD ends, or this command does, what CMD has started ends and the
credential is revoked. When the credential ends first, CMD is ended: by SIGTERM,
5 seconds later by SIGKILL. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on.

Exits with CMD's exit code, 128 and the number of the signal that ended it; 3
also where it was ended with its credential and says that all is well. Where CMD
is not run: 2, 3, 4 or 5 as all commands do, 1 if the credential cannot be lent.

Examples:

  fairlead creds exec checkout db-readonly -- psql -h db.example.com shop
  fairlead creds exec checkout db-readonly --ttl 5m --environment staging --task "count orders" -- make test-db
  fairlead creds exec --lease checkout-db-readonly-k3v9q2m7x1ab -- ./migrate.sh
  fairlead creds exec checkout tls --file KEY_FILE=private_key --file CERT_FILE=certificate -- ./serve`
}

// childExit is the exit code of the command that was run.
type childExit int

// Error tells the code.
func (e childExit) Error() string { return fmt.Sprintf("the command ended with %d", int(e)) }

// splitCommand takes the command that creds exec runs off the arguments.
func splitCommand(args []string) (own, command []string) {
	dashes := slices.Index(args, "--")
	if dashes < 0 {
		return args, nil
	}
	own = args[:dashes]
	creds := slices.Index(own, "creds")
	if creds < 0 || creds+1 >= len(own) || own[creds+1] != "exec" || creds > 0 && !slices.ContainsFunc(own[:creds], func(a string) bool { return strings.HasPrefix(a, "-") }) {
		return args, nil
	}
	return own, args[dashes+1:]
}

// check finds what cannot work before anything is lent.
func (e *credsExecCmd) check(c *console) (path string, d loan.Delivery, err error) {
	bad := func(fix, format string, args ...any) (string, loan.Delivery, error) {
		return "", d, fault.New(fault.Invalid, format, args...).WithFix("%s", fix)
	}
	const usage = "Write: fairlead creds exec SERVICE NAME -- CMD, or fairlead creds exec --lease LEASE -- CMD."
	switch {
	case c.Output != formatTable:
		return bad("Leave out --output.", "the output is the command's own: there is no format %q", c.Output)
	case len(c.command) == 0:
		return bad(usage, "there is no command to run")
	case e.Lease == "" && e.Name == "":
		return bad(usage, "it is not said which credential to use")
	case e.Lease != "" && e.Service != "":
		return bad(usage, "a service and --lease are given")
	case e.Lease != "" && e.order != (order{}):
		return bad("Leave them out.", "--ttl, --environment, --purpose and --task are not for a lease that there is already")
	}
	if path, err = exec.LookPath(c.command[0]); err != nil {
		return bad("Name a program that is in PATH, or its path.", "the command %q cannot be run: %v", c.command[0], unwrapped(err))
	}
	d, err = loan.ParseDelivery(e.Env, e.File)
	return path, d, err
}

// unwrapped is an error of finding a program, without its name.
func unwrapped(err error) error {
	if e, ok := err.(*exec.Error); ok { //nolint:errorlint // LookPath gives nothing else
		return e.Err
	}
	return err
}

// Run runs the command.
func (e *credsExecCmd) Run(c *console) error {
	path, delivery, err := e.check(c)
	if err != nil {
		return err
	}
	if err := loan.Harden(); err != nil {
		c.note("core dumps cannot be kept from holding the credential: %v", err)
	}
	caFile := e.VaultCAFile
	if caFile == "" {
		caFile = c.Env("FAIRLEAD_VAULT_CA_FILE")
	}
	opener, err := loan.NewOpener(caFile, c.Insecure)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	// A reader that is gone must not end this before the credential is back.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	l, err := e.borrow(c)
	if err != nil {
		return err
	}
	u := &loan.User{Server: lender{c.server}, Opener: opener, Loan: l, Delivery: delivery, Env: c.Env, Signals: signals,
		Program: loan.Program{Path: path, Args: c.command, In: c.In, Out: c.Out, Err: c.Err, Env: c.environ()},
		Say:     func(format string, args ...any) { c.note("fairlead: %s", render.Clean(fmt.Sprintf(format, args...))) }}
	code, err := u.Use(c.ctx)
	if err == nil && code != 0 {
		return childExit(code)
	}
	return err
}

// borrow has the server lend a credential, or hand over one that it has lent.
func (e *credsExecCmd) borrow(c *console) (*loan.Loan, error) {
	path, body := credsPath, map[string]any{}
	if e.Lease != "" {
		path = credPath(e.Lease) + "/wrap"
	} else {
		body = e.body(e.Service, e.Name)
		body["boundTo"] = "session"
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) { return cl.Post(ctx, path, body) })
	if err != nil {
		return nil, err
	}
	l, err := loan.Parse(raw)
	if err != nil && l != nil && e.Lease == "" {
		_, _ = lender{c.server}.Revoke(c.ctx, l.Lease) // it is of no use; it ends by itself otherwise
	}
	return l, err
}

// environ is the environment that this program was given.
func (c *console) environ() []string {
	if c.Environ != nil {
		return c.Environ()
	}
	return nil
}

// lender is the server as a place that loans come from.
type lender struct{ cl *client.Client }

func (l lender) call(ctx context.Context, lease, what string) (st loan.Status, err error) {
	raw, err := l.cl.Post(ctx, credPath(lease)+what, map[string]string{})
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal(raw, &st)
}

// Opened says that the wrapping has been opened.
func (l lender) Opened(ctx context.Context, lease string) (loan.Status, error) {
	return l.call(ctx, lease, "/opened")
}

// Alarm says that somebody else has opened it.
func (l lender) Alarm(ctx context.Context, lease string) (loan.Status, error) {
	return l.call(ctx, lease, "/alarm")
}

// Beat says that the credential is in use.
func (l lender) Beat(ctx context.Context, lease string) (loan.Status, error) {
	return l.call(ctx, lease, "/beat")
}

// Revoke gives it back.
func (l lender) Revoke(ctx context.Context, lease string) (st loan.Status, err error) {
	raw, err := l.cl.Delete(ctx, credPath(lease))
	if err != nil {
		return st, err
	}
	return st, json.Unmarshal(raw, &st)
}
