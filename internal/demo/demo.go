// Package demo makes a small company's Git repositories on the spot: services
// with catalog files, runbooks and SLOs, who owns them, how they are deployed,
// and one file that is broken.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/fairlead-dev/fairlead/internal/git"
)

//go:embed templates/*.tmpl
var templates embed.FS

// Repository is one repository that was made.
type Repository struct {
	// Name is the last part of its path.
	Name string
	// Dir is its work tree.
	Dir string
	// Catalog tells whether it holds catalog files.
	Catalog bool
}

// Create makes all repositories below dir, each with one commit by a person
// of the company, and lists them. In them they are said to be below the URL
// at, where people and teams have accounts by their names; if it is "" they are
// where they are made.
func Create(ctx context.Context, dir, at string) ([]Repository, error) {
	root, err := filepath.Abs(filepath.Join(dir, "repos"))
	if err != nil {
		return nil, err
	}
	r := &renderer{tmpl: template.New("demo"), repos: cmp.Or(at, "file://"+filepath.ToSlash(root))}
	if u, err := url.Parse(at); err == nil {
		r.forge = u.Hostname()
	}
	if r.tmpl, err = r.tmpl.ParseFS(templates, "templates/*.tmpl"); err != nil {
		return nil, err
	}
	contents, err := r.all()
	if err != nil {
		return nil, err
	}
	var out []Repository
	for _, c := range contents {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		repo := Repository{Name: c.name, Dir: filepath.Join(root, c.name), Catalog: c.catalog}
		if err := git.Create(repo.Dir, c.files, c.commit()); err != nil {
			return nil, fmt.Errorf("making repository %s: %w", c.name, err)
		}
		out = append(out, repo)
	}
	return out, nil
}

// content is what one repository holds.
type content struct {
	name, author string
	catalog      bool
	files        map[string]string
}

func (c content) commit() git.Commit {
	title := strings.ToUpper(c.author[:1]) + c.author[1:]
	return git.Commit{Message: "Describe " + c.name, Author: title, Email: c.author + "@shop.test", When: time.Now()}
}

type renderer struct {
	tmpl  *template.Template
	repos string
	forge string // the host where people and teams have accounts by their names
}

func (r *renderer) render(name string, data any) (string, error) {
	var b bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&b, name+".tmpl", data)
	return b.String(), err
}

// fill renders templates into files; into maps paths to template names.
func (r *renderer) fill(files map[string]string, data any, into map[string]string) error {
	for path, name := range into {
		text, err := r.render(name, data)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", name, err)
		}
		files[path] = text
	}
	return nil
}

func (r *renderer) all() ([]content, error) {
	shop, err := r.company()
	if err != nil {
		return nil, err
	}
	deploy := content{name: "deploy", author: "sam", files: map[string]string{"README.md": "# Deploy\n\nWhat runs where; Argo CD follows this repository.\n"}}
	out := []content{shop}
	for _, s := range services() {
		s = r.complete(s)
		c, err := r.service(s)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		if err := r.deployment(deploy.files, s); err != nil {
			return nil, err
		}
	}
	broken := content{name: "legacy-reports", author: "carol", catalog: true, files: map[string]string{}}
	if err := r.fill(broken.files, nil, map[string]string{"catalog-info.yaml": "broken.yaml"}); err != nil {
		return nil, err
	}
	return append(out, broken, deploy), nil
}

func (r *renderer) company() (content, error) {
	c := content{name: "company", author: "sam", catalog: true, files: map[string]string{}}
	data := map[string]any{"Teams": teams(), "People": people(), "Domains": domains(), "Systems": systems(), "Forge": r.forge}
	err := r.fill(c.files, data, map[string]string{"catalog-info.yaml": "root.yaml", "org.yaml": "org.yaml", "systems.yaml": "systems.yaml"})
	return c, err
}

func (r *renderer) complete(s service) service {
	if s.Type == "" {
		s.Type = "service"
	}
	if s.Lifecycle == "" {
		s.Lifecycle = "production"
	}
	s.Repos = r.repos
	s.Pager = "P" + strings.ToUpper(s.Name)
	return s
}

func (r *renderer) service(s service) (content, error) {
	c := content{name: s.Name, author: authorOf(s.Team), catalog: true, files: map[string]string{}}
	into := map[string]string{
		"catalog-info.yaml": "catalog-info.yaml", "README.md": "README.md", "AGENTS.md": "AGENTS.md", "Makefile": "Makefile",
		"run.sh": "run.sh", "test.sh": "test.sh", "slo/" + s.Name + ".yaml": "slo.yaml", "docs/runbooks/slow.md": "runbook.md",
	}
	if s.API {
		into["openapi.yaml"] = "openapi.yaml"
	}
	if s.Seed {
		into["db/seed.sql"] = "seed.sql"
	}
	if s.Bare {
		into[".gitea/workflows/ci.yaml"], into["CODEOWNERS"], into["ops/alerts.yaml"] = "ci.yaml", "CODEOWNERS", "alerts.yaml"
	}
	if s.Name == "notifications" { // whose AGENTS.md and CI disagree
		into["package.json"] = "package.json"
	}
	return c, r.fill(c.files, s, into)
}

func (r *renderer) deployment(files map[string]string, s service) error {
	base := "apps/" + s.Name + "/"
	return r.fill(files, s, map[string]string{
		base + "base/deployment.yaml":                   "deployment.yaml",
		base + "base/kustomization.yaml":                "base-kustomization.yaml",
		base + "overlays/staging/kustomization.yaml":    "kustomization.yaml",
		base + "overlays/production/kustomization.yaml": "kustomization.yaml",
	})
}

// authorOf is somebody in a team.
func authorOf(team string) string {
	for _, p := range people() {
		if slices.Contains(p.Teams, team) {
			return p.Name
		}
	}
	return "sam"
}
