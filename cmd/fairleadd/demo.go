package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/fairlead-dev/fairlead/internal/app"
	"github.com/fairlead-dev/fairlead/internal/demo"
)

type demoCmd struct {
	Dir    string `help:"Where to put the repositories and the state; a temporary folder, removed at the end, if left out." placeholder:"DIR"`
	Listen string `help:"The address to serve at." default:"127.0.0.1:7007" placeholder:"ADDR"`

	UI   string `name:"ui" type:"path" help:"Serve the front end that was built into this folder, too." placeholder:"DIR"`
	UIAs string `name:"ui-as" help:"Who opens it: Alice, a developer, or Sam, who is on call (${enum})." enum:"developer,sre" default:"developer"`

	Postgres             string `help:"A PostgreSQL server, as an administrator without its password, where previews of orders are given a database of their own." placeholder:"URL"`
	PostgresPasswordFile string `help:"The file that holds that password." type:"path" placeholder:"FILE"`
}

// Help shows examples.
func (demoCmd) Help() string {
	return `Examples:
  fairleadd demo
  fairleadd demo --dir ./demo --listen 127.0.0.1:7100
  fairleadd demo --ui ./ui --ui-as sre
  fairleadd demo --postgres postgres://admin@127.0.0.1:5432/postgres --postgres-password-file ./password`
}

// Run makes the demo and serves it until the process is told to end.
func (c *demoCmd) Run(ctx context.Context) (err error) {
	dir := c.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "fairlead-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	fmt.Println("making the repositories of a small company below", filepath.Join(dir, "repos"))
	set, err := demo.PrepareWith(ctx, dir, c.Listen, demo.Postgres{URL: c.Postgres, PasswordFile: c.PostgresPasswordFile})
	if err != nil {
		return err
	}
	if c.UI != "" {
		if err := set.ServeUI(c.UI, c.UIAs); err != nil {
			return err
		}
	}
	cfg, err := app.LoadConfig(set.Config)
	if err != nil {
		return err
	}
	logs, err := os.OpenFile(filepath.Join(dir, "fairleadd.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer logs.Close()
	cfg.Version, cfg.Argo = version, argoCD()
	a, err := app.New(ctx, cfg, logs)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- a.Run(ctx) }()
	if ended, err := awaitReady(ctx, a.Ready, failed); ended {
		return err
	}
	err = writeDemoFile(filepath.Join(dir, "demo.json"), a.URL(), set.Tokens)
	if err == nil {
		err = announce(dir, a, set, c.guest())
	}
	if err != nil {
		stop()
	}
	return errors.Join(err, <-failed)
}

// guest is the name of who opens the front end; "" without one.
func (c *demoCmd) guest() string {
	switch {
	case c.UI == "":
		return ""
	case c.UIAs == "sre":
		return "Sam"
	}
	return "Alice"
}

// awaitReady waits until every source has been read, and tells whether the
// server has ended before that, and how.
func awaitReady(ctx context.Context, ready func() bool, failed <-chan error) (ended bool, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case err := <-failed:
			return true, err
		case <-ctx.Done():
			return true, <-failed
		case <-tick.C:
		}
	}
	return false, nil
}

func writeDemoFile(path, url string, tokens map[string]string) error {
	data, err := json.MarshalIndent(map[string]any{"url": url, "tokens": tokens}, "", "  ")
	if err != nil {
		return err
	}
	// The name appears only once the content is whole.
	if err := os.WriteFile(path+".part", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

const welcome = `
Fairlead serves {{.Entities}} entities from {{.Repos}} Git repositories at {{.URL}}

tokens (also in {{.Dir}}/demo.json):
  agent      {{.Tokens.agent}}   Alice's coding agent
  developer  {{.Tokens.developer}}   Alice herself
  sre        {{.Tokens.sre}}   Sam, on call

try in another terminal:
  export FAIRLEAD_SERVER={{.URL}} FAIRLEAD_TOKEN={{.Tokens.developer}}
  {{.CLI}} brief checkout
  {{.CLI}} search payments
  {{.CLI}} deps checkout --both
  {{.CLI}} catalog errors        # one file is broken on purpose
  {{.CLI}} catalog refresh checkout
  {{.CLI}} previews create checkout --ttl 2m   # a running copy, at a URL (on Linux)
  {{.CLI}} change propose checkout staging --image 1.5.0 --reason "the fix for orders"   # a branch of repos/deploy, and its patch
  {{.CLI}} audit                 # what you did; with the sre token, what all did

  curl -s {{.URL}}/graphql -H "Authorization: Bearer $FAIRLEAD_TOKEN" -H 'Content-Type: application/json' \
    -d '{"query":"{ serviceBrief(service: \"checkout\") { ref owner { value source { path line } } commands { test { value } } } }"}'
  curl -s {{.URL}}/mcp -H "Authorization: Bearer $FAIRLEAD_TOKEN" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: get_service_brief' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_service_brief","arguments":{"service":"checkout"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"curl","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}'
  curl -s "{{.URL}}/api/catalog/entities/by-query?filter=kind=component&limit=3" -H "Authorization: Bearer $FAIRLEAD_TOKEN"

in a browser: {{if .Guest}}{{.URL}} (Backstage, as {{.Guest}}); {{end}}{{.URL}}/graphql (GraphiQL; put a token into the field at the top)
for an agent: the address {{.URL}}/mcp and the agent token, or have its client start
  {"mcpServers": {"fairlead": {"command": "{{.Program}}", "args": ["mcp"],
    "env": {"FAIRLEAD_SERVER": "{{.URL}}", "FAIRLEAD_TOKEN": "{{.Tokens.agent}}"}}}}
edit {{.Dir}}/repos/checkout/catalog-info.yaml, commit it with git, and ask again

not configured here, and by which section of {{.Dir}}/fairlead.yaml it would be:
  pull requests        forges: [{name: acme, gitea: {url: https://git.example.com, tokenFile: ./gitea-token}}]   (or github, gitlab)
  deployments, health  argocd: [{name: main, server: argocd.example.com, tokenFile: ./argocd-token}]
  SLOs, alerts         metrics: {prometheus: {url: https://prometheus.example.com}}
  credentials          vault: {address: https://vault.example.com, auth: {approle: {roleID: …, secretIDFile: ./secret-id}}}
make demo-full has all of it on real servers.
logs are in {{.Dir}}/fairleadd.log; stop with Ctrl-C, or with: kill {{.PID}}
`

func announce(dir string, a *app.App, set *demo.Set, guest string) error {
	t, err := template.New("welcome").Parse(welcome)
	if err != nil {
		return err
	}
	return t.Execute(os.Stdout, map[string]any{
		"Guest": guest, "Entities": a.Catalog().Snapshot().Len(), "Repos": described(set.Repositories), "URL": a.URL(), "Dir": dir, "PID": os.Getpid(), "Tokens": set.Tokens, "CLI": beside("fairlead"), "Program": absolute(beside("fairlead")),
	})
}

// described counts the repositories that hold catalog files.
func described(all []demo.Repository) (n int) {
	for _, r := range all {
		if r.Catalog {
			n++
		}
	}
	return n
}

// absolute is a program's whole path, for those who call it from elsewhere;
// a name that is found by PATH stays.
func absolute(program string) string {
	if !strings.ContainsRune(program, filepath.Separator) {
		return program
	}
	if path, err := filepath.Abs(program); err == nil {
		return path
	}
	return program
}

// beside is how to call a program that lies beside this one.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return name
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	if found, err := exec.LookPath(name); err == nil && found == path {
		return name
	}
	return path
}
