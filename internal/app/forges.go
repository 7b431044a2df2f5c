package app

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

// ForgeConfig is a forge where pull requests are opened, commented and
// followed: a name and exactly one kind, with a token that may write.
type ForgeConfig struct {
	// Name is how records and messages call the forge.
	Name string `yaml:"name"`
	// GitHub is github.com or a GitHub Enterprise.
	GitHub *github.Config `yaml:"github"`
	// Gitea is a Gitea or Forgejo.
	Gitea *gitea.Config `yaml:"gitea"`
	// GitLab is gitlab.com or a GitLab of one's own.
	GitLab *gitlab.Config `yaml:"gitlab"`
}

// writing is a configured forge.
type writing struct {
	name, kind string
	// web is where its pages and repositories are.
	web *url.URL
	// token writes to its repositories, also by Git.
	token  forge.Credentials
	client forgeClient
	// as is a client for a person's own account, and flow how persons link those;
	// nil where they cannot.
	as   func(forge.Credentials) (gitops.Forge, error)
	flow *forge.Flow
}

// forgeClient is what a forge's client can do.
type forgeClient interface {
	gitops.Forge
	gitops.CI
	forge.Commenter
	hook
}

func (c *Config) checkForges(k *checker) {
	names := map[string]bool{}
	for i, f := range c.Forges {
		path := fmt.Sprintf("forges[%d]", i)
		switch {
		case f.Name == "" || strings.ContainsAny(f.Name, ":/\\ \t\n"):
			k.add(path+".name", "%q is no name for a forge; use letters, digits, - and _", f.Name)
		case names[f.Name]:
			k.add(path+".name", "another forge is called %q", f.Name)
		}
		names[f.Name] = true
		found := 0
		report := func(kind string, ps []forge.Problem) {
			found++
			for _, p := range ps {
				k.add(path+"."+kind+"."+p.Field, "%s", p.Message)
			}
		}
		if f.GitHub != nil {
			report("github", f.GitHub.ValidateForge())
		}
		if f.Gitea != nil {
			report("gitea", f.Gitea.ValidateForge())
		}
		if f.GitLab != nil {
			report("gitlab", f.GitLab.ValidateForge())
		}
		if found != 1 {
			k.add(path, "a forge is exactly one of github, gitea and gitlab")
		}
	}
}

// makeForges makes the clients of the forges that are configured; their
// webhooks are taken as those of sources are.
func (a *App) makeForges() error {
	for _, f := range a.cfg.Forges {
		w := writing{name: f.Name}
		var err error
		switch {
		case f.GitHub != nil:
			w.kind, w.web, w.token = "github", f.GitHub.Web(), f.GitHub.Token()
			var c *github.Client
			if c, err = github.NewForge(f.Name, *f.GitHub, a.cfg.dir, github.WithBudgets(&a.budgets)); err == nil {
				w.client, w.flow = c, c.Flow(a.cfg.dir, &a.budgets)
				w.as = func(t forge.Credentials) (gitops.Forge, error) { return c.As(t, &a.budgets) }
			}
		case f.Gitea != nil:
			w.kind, w.web, w.token = "gitea", f.Gitea.Web(), f.Gitea.Token()
			var c *gitea.Client
			if c, err = gitea.NewForge(f.Name, *f.Gitea, a.cfg.dir, gitea.WithBudgets(&a.budgets)); err == nil {
				w.client, w.flow = c, c.Flow(a.cfg.dir, &a.budgets)
				w.as = func(t forge.Credentials) (gitops.Forge, error) { return c.As(t, &a.budgets) }
			}
		case f.GitLab != nil:
			w.kind, w.web, w.token = "gitlab", f.GitLab.Web(), f.GitLab.Token()
			var c *gitlab.Client
			if c, err = gitlab.NewForge(f.Name, *f.GitLab, a.cfg.dir, gitlab.WithBudgets(&a.budgets)); err == nil {
				w.client, w.flow = c, c.Flow(a.cfg.dir, &a.budgets)
				w.as = func(t forge.Credentials) (gitops.Forge, error) { return c.As(t, &a.budgets) }
			}
		}
		if err != nil {
			return err
		}
		a.forges = append(a.forges, w)
		a.hooks[w.kind] = append(a.hooks[w.kind], w.client)
	}
	return nil
}

// forgeOf is the configured forge that a repository is at, by its page or its
// clone URL, and the repository's full name there; nil where it is at none.
func (a *App) forgeOf(repository string) (*writing, string) {
	if host, path, short := strings.Cut(repository, ":"); short && !strings.HasPrefix(path, "//") {
		repository = "ssh://" + host + "/" + strings.TrimPrefix(path, "/") // git@host:path
	}
	u, err := url.Parse(repository)
	if err != nil || u.Host == "" {
		return nil, ""
	}
	for i := range a.forges {
		w := &a.forges[i]
		path, below := strings.CutPrefix(u.Path, strings.TrimRight(w.web.Path, "/")+"/")
		if !below || !strings.EqualFold(u.Hostname(), w.web.Hostname()) || u.Scheme != "ssh" && effectivePort(u) != effectivePort(w.web) {
			continue
		}
		name := strings.TrimSuffix(strings.Trim(path, "/"), ".git")
		if _, _, err := forge.Split(name); err == nil {
			return w, name
		}
	}
	return nil, ""
}

// effectivePort is a URL's port, or the one that its scheme implies.
func effectivePort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	default:
		return "443"
	}
}
