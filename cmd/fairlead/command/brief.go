package command

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

type briefCmd struct {
	Service   string   `arg:"" optional:"" help:"The service, by name or reference, or the URL of its repository; left out: the one whose folder you stand in." predictor:"ref"`
	Repo      string   `help:"The service whose repository DIR is in; of several there, the one whose folder is nearest above DIR." placeholder:"DIR" type:"path" predictor:"dir"`
	Path      string   `help:"A path inside the repository of the service or URL that is named: its nearest rules and commands." placeholder:"PATH"`
	Section   []string `help:"Only these: owner, oncall, repository, commands, rules, deploy, dependencies, slos, runbooks, dashboards, problems." placeholder:"NAME" predictor:"section"`
	MaxTokens int      `help:"The size of the answer in tokens of four bytes, 4000 if left out; detail is left out to fit." placeholder:"N" default:"4000"`
}

// Help shows examples.
func (briefCmd) Help() string {
	return `Examples:

  fairlead brief checkout
  fairlead brief
  fairlead brief --repo ../payments --section commands,runbooks
  fairlead brief https://github.com/acme/shop --path services/checkout -o json
  fairlead brief checkout --max-tokens 400`
}

// Run shows a brief.
func (b *briefCmd) Run(c *console) error {
	switch {
	case b.Service != "" && b.Repo != "":
		return fault.New(fault.Invalid, "both a service and --repo are given").WithFix("Leave one of them out.")
	case b.Service == "" && b.Path != "":
		return fault.New(fault.Invalid, "--path is given without a service or the URL of a repository").WithFix("Name one, or give a folder of the repository with --repo.")
	}
	raw, err := c.ask(b.ask)
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, v *catalog.Brief) { p.Brief(v) })
}

func (b *briefCmd) ask(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	switch {
	case b.Service == "":
		return b.here(ctx, cl)
	case isRepository(b.Service):
		return cl.Get(ctx, "/api/v1/brief", b.query("repository", b.Service, "path", b.Path))
	default:
		return cl.Get(ctx, "/api/v1/brief", b.query("service", b.Service, "path", b.Path))
	}
}

func (b *briefCmd) query(pairs ...string) url.Values {
	q := values(append(pairs, "max_tokens", number(b.MaxTokens))...)
	q["sections"] = b.Section
	return q
}

// isRepository tells the URL of a repository from a service's name.
func isRepository(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "git@") || filepath.IsAbs(s)
}

// here finds the service of the repository that the folder is in, nearest
// above the folder: by each of the repository's remotes, then by its place on
// this machine.
func (b *briefCmd) here(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	dir := b.Repo
	if dir == "" {
		dir = "."
	}
	root, err := git.FindRepository(dir)
	if err != nil {
		f := fault.From(err)
		return nil, f.WithFix("Name a service, or a folder in its repository with --repo.")
	}
	names, err := git.Remotes(root)
	if err != nil {
		return nil, err
	}
	names = append(names, root)
	if real, err := filepath.EvalSymlinks(root); err == nil && real != root {
		names = append(names, real)
	}
	inside := pathInside(root, dir)
	for _, name := range slices.Compact(names) {
		raw, err := cl.Get(ctx, "/api/v1/brief", b.query("repository", name, "path", inside))
		if fault.CodeOf(err) != fault.NotFound || fault.From(err).Details["refs"] != nil {
			return raw, err
		}
	}
	return nil, fault.New(fault.NotFound, "no service of the catalog is in the repository %s, known as %s", root, strings.Join(names, ", ")).
		WithFix("Name the service, or add a catalog-info.yaml to the repository and the repository to the server's sources.")
}

// pathInside is the path of a folder relative to the root of its repository,
// with forward slashes, "" for the root.
func pathInside(root, dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	inside, err := filepath.Rel(root, abs)
	if err != nil || inside == "." || strings.HasPrefix(inside, "..") {
		return ""
	}
	return filepath.ToSlash(inside)
}
