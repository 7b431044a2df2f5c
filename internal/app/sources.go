package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/backstage"
	"github.com/fairlead-dev/fairlead/catalog/filesource"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// SourceConfig is one source: a name and exactly one kind of source.
type SourceConfig struct {
	// Name is how errors, metrics and facts call the source.
	Name string `yaml:"name"`
	// Git reads a Git repository.
	Git *git.SourceConfig `yaml:"git"`
	// File reads a folder or a file.
	File *filesource.Config `yaml:"file"`
	// GitHub reads every repository of an organization or user.
	GitHub *github.Config `yaml:"github"`
	// Gitea reads every repository of an organization or user.
	Gitea *gitea.Config `yaml:"gitea"`
	// GitLab reads every project of a group, its subgroups included, or of a
	// user.
	GitLab *gitlab.Config `yaml:"gitlab"`
	// Backstage reads the catalog of an existing Backstage.
	Backstage *backstage.Config `yaml:"backstage"`
}

// problem is what any section says is wrong with it.
type problem struct{ field, message string }

// kinds are the kinds of source that are given, each with what is wrong.
func (s *SourceConfig) kinds() map[string][]problem {
	out := map[string][]problem{}
	if s.Git != nil {
		out["git"] = nil
		for _, p := range s.Git.Validate() {
			out["git"] = append(out["git"], problem{p.Field, p.Message})
		}
	}
	if s.File != nil {
		out["file"] = nil
		for _, p := range s.File.Validate() {
			out["file"] = append(out["file"], problem{p.Field, p.Message})
		}
	}
	if s.GitHub != nil {
		out["github"] = forgeProblems(s.GitHub.Validate())
	}
	if s.Gitea != nil {
		out["gitea"] = forgeProblems(s.Gitea.Validate())
	}
	if s.GitLab != nil {
		out["gitlab"] = forgeProblems(s.GitLab.Validate())
	}
	if s.Backstage != nil {
		out["backstage"] = nil
		for _, p := range s.Backstage.Validate() {
			out["backstage"] = append(out["backstage"], problem{p.Field, p.Message})
		}
	}
	return out
}

// software tells what serves hosts of one's own: what sources and forges are
// configured as, and what catalog.forges says.
func (c *Config) software() map[string]string {
	out := map[string]string{}
	add := func(hub *github.Config, tea *gitea.Config, lab *gitlab.Config) {
		switch {
		case hub != nil:
			out[hub.Web().Host] = "github"
		case tea != nil:
			out[tea.Web().Host] = "gitea"
		case lab != nil:
			out[lab.Web().Host] = "gitlab"
		}
	}
	for _, f := range c.Forges {
		add(f.GitHub, f.Gitea, f.GitLab)
	}
	for _, s := range c.Catalog.Sources {
		add(s.GitHub, s.Gitea, s.GitLab)
		if s.Git == nil || s.Git.Forge == "" {
			continue
		}
		if u, err := url.Parse(cmp.Or(s.Git.WebURL, s.Git.URL)); err == nil && u.Host != "" {
			out[u.Host] = s.Git.Forge
		}
	}
	maps.Copy(out, c.Catalog.Forges)
	return out
}

func forgeProblems(ps []forge.Problem) []problem {
	var out []problem
	for _, p := range ps {
		out = append(out, problem{p.Field, p.Message})
	}
	return out
}

func (c *Config) checkSource(k *checker, path string, s SourceConfig) {
	kinds := s.kinds()
	if len(kinds) != 1 {
		k.add(path, "a source has exactly one of git, file, github, gitea, gitlab and backstage")
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, p := range kinds[kind] {
			at := path + "." + kind
			if p.field != "" {
				at += "." + p.field
			}
			k.add(at, "%s", p.message)
		}
	}
}

// sources makes what the configuration names, and notes the forges that may
// send webhooks.
func (a *App) sources() (sources []ingest.Source, providers []ingest.Provider, err error) {
	a.fetches, a.hooks = git.NewLimiter(4), map[string][]hook{}
	for _, s := range a.cfg.Catalog.Sources {
		var src ingest.Source
		var found ingest.Provider
		switch {
		case s.Git != nil:
			src, err = a.repository(s.Name, *s.Git)
		case s.File != nil:
			src, err = filesource.New(s.Name, *s.File)
		case s.Backstage != nil:
			src, err = backstage.New(s.Name, *s.Backstage, a.cfg.dir)
		case s.GitHub != nil:
			found, err = a.onGitHub(s.Name, *s.GitHub)
		case s.Gitea != nil:
			found, err = a.onGitea(s.Name, *s.Gitea)
		case s.GitLab != nil:
			found, err = a.onGitLab(s.Name, *s.GitLab)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("source %s: %w", s.Name, err)
		}
		if src != nil {
			sources = append(sources, src)
		} else {
			providers = append(providers, found)
		}
	}
	return sources, providers, nil
}

func (a *App) repository(name string, cfg git.SourceConfig) (*git.Source, error) {
	return git.NewSource(name, cfg, filepath.Join(a.cfg.Cache, "git", filepath.FromSlash(name)), a.cfg.dir, a.fetches)
}

func (a *App) onGitHub(name string, cfg github.Config) (ingest.Provider, error) {
	client, err := github.New(name, cfg, a.cfg.dir, github.WithBudgets(&a.budgets))
	if err != nil {
		return nil, err
	}
	return a.organization(name, "github", cmp.Or(cfg.Org, cfg.User), client, cfg.Token(), git.SourceConfig{Ref: cfg.Ref, Include: cfg.Include}), nil
}

func (a *App) onGitea(name string, cfg gitea.Config) (ingest.Provider, error) {
	client, err := gitea.New(name, cfg, a.cfg.dir, gitea.WithBudgets(&a.budgets))
	if err != nil {
		return nil, err
	}
	return a.organization(name, "gitea", cmp.Or(cfg.Org, cfg.User), client, cfg.Token(), git.SourceConfig{Ref: cfg.Ref, Include: cfg.Include}), nil
}

func (a *App) onGitLab(name string, cfg gitlab.Config) (ingest.Provider, error) {
	client, err := gitlab.New(name, cfg, a.cfg.dir, gitlab.WithBudgets(&a.budgets))
	if err != nil {
		return nil, err
	}
	return a.organization(name, "gitlab", cmp.Or(cfg.Group, cfg.User), client, cfg.Token(), git.SourceConfig{Ref: cfg.Ref, Include: cfg.Include}), nil
}

// host is a forge's client: it lists, and it verifies webhooks.
type host interface {
	forge.Lister
	hook
}

// organization makes a provider of what a host lists; kind is the forge's
// software, and template what the repositories' sources have in common.
func (a *App) organization(name, kind, owner string, client host, token forge.Credentials, template git.SourceConfig) *organization {
	a.hooks[kind] = append(a.hooks[kind], client)
	template.Forge = kind
	template.Credentials = git.Credentials{TokenFile: token.TokenFile, TokenEnv: token.TokenEnv}
	return &organization{desc: ingest.Description{Name: name, Type: kind, URL: owner}, lister: client, template: template, open: a.repository}
}
