package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type loginCmd struct {
	Forge     string `help:"Link your own account at this forge, so that changes are proposed there as you." placeholder:"NAME"`
	Unlink    bool   `help:"With --forge: forget your account there, and have the forge revoke it where it can."`
	Status    bool   `help:"Tell at which forges your account is linked."`
	NoBrowser bool   `help:"With --forge: print the address of the page alone, and open no browser."`
}

// Help shows examples.
func (loginCmd) Help() string {
	return `The token is asked for on the terminal without being shown, or read from
--token-file or from standard input. It is tried at the server, then noted in
the file config.yaml in the folder fairlead of your configuration folder,
which you alone can read. The server becomes the one that all commands talk
to.

With --forge you link your account at a forge that the server knows: you agree
at the forge's page, confirm who you are here, and branches and pull requests
are then made as you. Only the server keeps what the forge gives, sealed.

Examples:

  fairlead login --server https://fairlead.example.com
  fairlead login --server http://127.0.0.1:7007 --token-file ./alice.token
  vault read -field=token secret/fairlead | fairlead login --server https://fairlead.example.com
  fairlead login --forge acme
  fairlead login --status
  fairlead login --forge acme --unlink`
}

// Run logs in.
func (l *loginCmd) Run(c *console) error {
	switch {
	case l.Status:
		return l.status(c)
	case l.Unlink && l.Forge == "":
		return fault.New(fault.Invalid, "--unlink does not say where").WithFix("Add --forge NAME; fairlead login --status lists them.")
	case l.Unlink:
		return l.unlink(c)
	case l.Forge != "":
		return l.link(c)
	}
	logins, err := c.logins()
	if err != nil {
		return err
	}
	none := func(key string) string { // a token in the environment is not what is logged in with
		if key == "FAIRLEAD_SERVER" {
			return c.Env(key)
		}
		return ""
	}
	known, err := client.Resolve(client.Flags{Server: c.Server, Insecure: true}, none, logins)
	if err != nil {
		return err
	}
	path, err := client.LoginsPath()
	if err != nil {
		return err
	}
	token, err := c.newToken(known.Server)
	if err != nil {
		return err
	}
	logins.Set(known.Server, token)
	s, err := client.Resolve(client.Flags{Server: known.Server, Insecure: c.Insecure}, func(string) string { return "" }, logins)
	if err != nil {
		return err
	}
	s.TokenFrom = "this login"
	c.server = client.New(s, c.Version)
	raw, err := c.ask(whoami)
	if err != nil {
		return err
	}
	if err := logins.Save(path); err != nil {
		return err
	}
	c.note("noted in %s", path)
	return showIdentity(c, raw)
}

func whoami(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	return cl.Get(ctx, "/api/v1/whoami", nil)
}

func showIdentity(c *console, raw json.RawMessage) error {
	return show(c, raw, func(p *render.Page, id *access.Identity) { p.Identity(id) })
}

// newToken gets the token from where the caller has it.
func (c *console) newToken(server string) (string, error) {
	switch {
	case c.TokenFile != "" && c.TokenFile != "-":
		return client.ReadTokenFile(c.TokenFile)
	case c.TokenFile != "-" && terminal(c.In):
		return c.askToken(server)
	default:
		return client.ReadToken(bufio.NewReader(c.In), "standard input")
	}
}

// askToken asks on the terminal without showing what is typed, and leaves the
// terminal as it was even if the caller gives up.
func (c *console) askToken(server string) (string, error) {
	file, ok := c.In.(*os.File)
	if !ok {
		return "", fault.New(fault.Internal, "standard input is no terminal")
	}
	before, err := term.GetState(file.Fd())
	if err != nil {
		return "", fault.New(fault.Invalid, "the terminal cannot be asked").WithFix("Use --token-file.").Because(err)
	}
	fmt.Fprintf(c.Err, "token for %s: ", server)
	type typed struct {
		text []byte
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := term.ReadPassword(file.Fd())
		got <- typed{text, err}
	}()
	select {
	case t := <-got:
		fmt.Fprintln(c.Err)
		if t.err != nil {
			return "", fault.New(fault.Invalid, "no token was typed").WithFix("Type the token, or use --token-file.").Because(t.err)
		}
		return client.CleanToken(string(t.text), "what was typed")
	case <-c.ctx.Done():
		fmt.Fprintln(c.Err)
		if err := term.Restore(file.Fd(), before); err != nil {
			return "", err
		}
		return "", context.Cause(c.ctx)
	}
}
