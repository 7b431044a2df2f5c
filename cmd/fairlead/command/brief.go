package command

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

type briefCmd struct {
	Service   string   `arg:"" optional:"" help:"The service, by name or reference, or the URL of its repository; left out: the one whose repository you stand in." predictor:"ref"`
	Repo      string   `help:"The service whose repository DIR is in." placeholder:"DIR" type:"path" predictor:"dir"`
	Section   []string `help:"Only these: owner, oncall, repository, commands, deploy, dependencies, slos, runbooks, dashboards, problems." placeholder:"NAME" predictor:"section"`
	MaxTokens int      `help:"The size of the answer in tokens of four bytes, 4000 if left out; detail is left out to fit." placeholder:"N" default:"4000"`
}

// Help shows examples.
func (briefCmd) Help() string {
	return `Examples:

  fairlead brief checkout
  fairlead brief
  fairlead brief --repo ../payments --section commands,runbooks
  fairlead brief https://github.com/acme/checkout -o json
  fairlead brief checkout --max-tokens 400`
}

// Run shows a brief.
func (b *briefCmd) Run(c *console) error {
	if b.Service != "" && b.Repo != "" {
		return fault.New(fault.Invalid, "both a service and --repo are given").WithFix("Leave one of them out.")
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
		return cl.Get(ctx, "/api/v1/brief", b.query("repository", b.Service))
	default:
		return cl.Get(ctx, "/api/v1/brief", b.query("service", b.Service))
	}
}

func (b *briefCmd) query(key, value string) url.Values {
	q := values(key, value, "max_tokens", number(b.MaxTokens))
	q["sections"] = b.Section
	return q
}

// isRepository tells the URL of a repository from a service's name.
func isRepository(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "git@") || filepath.IsAbs(s)
}

// here finds the service of the repository that the folder is in: by each of
// its remotes, then by its place on this machine.
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
	for _, name := range slices.Compact(names) {
		raw, err := cl.Get(ctx, "/api/v1/brief", b.query("repository", name))
		switch fault.CodeOf(err) {
		case "":
			return raw, nil
		case fault.NotFound:
		case fault.Conflict:
			return b.nearest(ctx, cl, root, dir, err)
		default:
			return nil, err
		}
	}
	return nil, fault.New(fault.NotFound, "no service of the catalog is in the repository %s, known as %s", root, strings.Join(names, ", ")).
		WithFix("Name the service, or add a catalog-info.yaml to the repository and the repository to the server's sources.")
}

// nearest decides between the services of one repository by the catalog file
// that is nearest above the folder.
func (b *briefCmd) nearest(ctx context.Context, cl *client.Client, root, dir string, conflict error) (json.RawMessage, error) {
	known, _ := fault.From(conflict).Details["refs"].([]any)
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, conflict
	}
	for {
		refs := componentsOf(at)
		refs = slices.DeleteFunc(refs, func(r string) bool { return !slices.Contains(known, any(r)) })
		if len(refs) == 1 {
			return cl.Get(ctx, "/api/v1/brief", b.query("service", refs[0]))
		}
		up := filepath.Dir(at)
		if len(refs) > 1 || at == root || up == at {
			return nil, conflict
		}
		at = up
	}
}

// componentsOf are the components that a folder's catalog file describes.
func componentsOf(dir string) []string {
	for _, name := range []string{"catalog-info.yaml", "catalog-info.yml"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := descriptor.New(descriptor.Options{}).Read(descriptor.Location{Type: descriptor.TypeFile, Target: path}, data)
		var refs []string
		for _, d := range f.Documents {
			if d.Ref.Kind == "component" {
				refs = append(refs, d.Ref.String())
			}
		}
		return refs
	}
	return nil
}
