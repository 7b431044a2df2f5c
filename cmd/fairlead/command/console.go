package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/term"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The formats that most commands print in.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

// console is what a command works with.
type console struct {
	Streams
	*globals
	ctx    context.Context //nolint:containedctx // lives as long as the one command that runs
	server *client.Client
	// command is what creds exec runs.
	command []string
}

// formatter is a command that prints in other formats than most.
type formatter interface{ formats() []string }

// choose checks the flags that all commands share.
func (c *console) choose(k *kong.Context) error {
	known := []string{formatTable, formatJSON, formatYAML}
	if node := k.Selected(); node != nil && node.Target.CanAddr() {
		if f, ok := node.Target.Addr().Interface().(formatter); ok {
			known = f.formats()
		}
	}
	if !slices.Contains(known, c.Output) {
		return fault.New(fault.Invalid, "--output: there is no format %q here", c.Output).WithFix("Use one of %s.", strings.Join(known, ", "))
	}
	if c.Timeout <= 0 {
		return fault.New(fault.Invalid, "--timeout: %s is not a time to wait", c.Timeout).WithFix("Write for example --timeout 30s.")
	}
	return nil
}

// settings work out which server to talk to.
func (c *console) settings() (client.Settings, error) {
	logins, err := c.logins()
	if err != nil {
		return client.Settings{}, err
	}
	return client.Resolve(client.Flags{Server: c.Server, TokenFile: c.TokenFile, Insecure: c.Insecure}, c.Env, logins)
}

func (c *console) logins() (*client.Logins, error) {
	path, err := client.LoginsPath()
	if err != nil {
		return &client.Logins{}, nil //nolint:nilerr // without a home there are no logins
	}
	logins, err := client.LoadLogins(path)
	if err == nil && logins.Exposed && len(logins.Logins) > 0 {
		fmt.Fprintf(c.Err, "warning: others may read the tokens in %s: run chmod 600 on it\n", path)
	}
	return logins, err
}

// client is the client of the server, made when first asked for.
func (c *console) client() (*client.Client, error) {
	if c.server == nil {
		s, err := c.settings()
		if err != nil {
			return nil, err
		}
		c.server = client.New(s, c.Version)
	}
	return c.server, nil
}

// ask asks the server under the time limit, and shows that it waits.
func (c *console) ask(do func(context.Context, *client.Client) (json.RawMessage, error)) (raw json.RawMessage, err error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.Timeout)
	defer cancel()
	c.during("waiting for "+cl.Settings().Server, func() { raw, err = do(ctx, cl) })
	return raw, err
}

// during does something and, if it takes more than a second and somebody
// watches, shows on standard error that it is still being done.
func (c *console) during(what string, do func()) {
	if !terminal(c.Err) {
		do()
		return
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for shown := false; ; {
			select {
			case <-tick.C:
				fmt.Fprintf(c.Err, "\r\x1b[K%s… %ds", what, int(time.Since(start).Seconds()))
				shown = true
			case <-done:
				if shown {
					fmt.Fprint(c.Err, "\r\x1b[K")
				}
				return
			}
		}
	}()
	defer func() {
		close(done)
		<-gone
	}()
	do()
}

// show prints an answer: as it is for programs, as a page for people.
func show[T any](c *console, raw json.RawMessage, page func(*render.Page, *T)) error {
	switch c.Output {
	case formatJSON:
		return render.JSON(c.Out, raw)
	case formatYAML:
		return render.YAML(c.Out, raw)
	}
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").
			WithFix("Use versions of fairlead and fairleadd that belong together.").Because(err)
	}
	p := c.page()
	page(p, v)
	return p.Err()
}

// page is a page on standard output.
func (c *console) page() *render.Page {
	return render.NewPage(c.Out, render.Options{Color: c.colors(c.Out), Width: width(c.Out)})
}

// note tells people something beside the answer.
func (c *console) note(format string, args ...any) {
	p := render.NewPage(c.Err, render.Options{Color: c.colors(c.Err)})
	p.Line(p.Dim(fmt.Sprintf(format, args...)))
}

func (c *console) colors(w io.Writer) bool {
	return c.Env("NO_COLOR") == "" && c.Env("TERM") != "dumb" && terminal(w)
}

func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// width is the terminal's, 0 for anything else.
func width(w io.Writer) int {
	columns, _ := size(w)
	return columns
}

// height is the terminal's, 0 for anything else.
func height(w io.Writer) int {
	_, rows := size(w)
	return rows
}

func size(w io.Writer) (columns, rows int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	columns, rows, err := term.GetSize(f.Fd())
	if err != nil {
		return 0, 0
	}
	return columns, rows
}
