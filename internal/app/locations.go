package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// LocationsConfig lets locations be registered, by people and agents, beside
// what catalog.sources reads.
type LocationsConfig struct {
	// Hosts may be read beside the repositories of configured sources and the
	// hosts of configured forges. No request is sent to any other.
	Hosts []LocationHost `yaml:"hosts"`
	// Max is how many locations may be registered, 1000 if 0.
	Max int `yaml:"max"`
}

// LocationHost is a host whose repositories may be registered.
type LocationHost struct {
	// Host is its name, with a port where that is not the usual one.
	Host string `yaml:"host"`
	// Credentials are what its repositories ask for; without any, public ones
	// are read.
	Credentials git.Credentials `yaml:"credentials"`
	// Limits bound what reading one of its repositories may cost.
	Limits git.Limits `yaml:"limits"`
}

// defaultLocations is how many locations may be registered if nothing is said.
const defaultLocations = 1000

// lookAtLocations is how often it is looked whether another replica has
// changed the registered locations.
const lookAtLocations = 3 * time.Second

// passingFetches is how many fetches for trying locations run at once; those
// of sources do not wait for them.
const passingFetches = 2

func (c *Config) checkLocations(k *checker) {
	l := c.Catalog.Locations
	if l == nil {
		return
	}
	if l.Max < 0 {
		k.add("catalog.locations.max", "%d is less than nothing", l.Max)
	}
	for i, s := range c.Catalog.Sources {
		if s.Name == ingest.RegisteredName {
			k.add(fmt.Sprintf("catalog.sources[%d].name", i), "with catalog.locations no other source can be called %q", s.Name)
		}
	}
	seen := map[string]bool{}
	for i, h := range l.Hosts {
		key := fmt.Sprintf("catalog.locations.hosts[%d]", i)
		u, err := url.Parse("https://" + h.Host + "/")
		switch {
		case err != nil || u.Host != h.Host || u.Hostname() == "" || u.Path != "/" || strings.ContainsAny(h.Host, "*@ "):
			k.add(key+".host", "%q is no host; write for example git.example.com or git.example.com:8443", h.Host)
			continue
		case seen[strings.ToLower(h.Host)]:
			k.add(key+".host", "%s is listed twice", h.Host)
		}
		seen[strings.ToLower(h.Host)] = true
		probe := git.SourceConfig{URL: "https://" + h.Host + "/owner/repository.git", Credentials: h.Credentials, Limits: h.Limits}
		for _, p := range probe.Validate() {
			k.add(key+"."+p.Field, "%s", p.Message)
		}
	}
}

// registered is what ingestion needs to read registered locations; nil where
// there are none.
func (a *App) registered() *ingest.Registered {
	if a.cfg.Catalog.Locations == nil {
		return nil
	}
	a.passing = git.NewLimiter(passingFetches)
	r := &repositories{dir: filepath.Join(a.cfg.Cache, "git", ingest.RegisteredName), base: a.cfg.dir, rules: a.cfg.readable(),
		since: time.Now(), fetches: a.fetches, passing: a.passing}
	var once sync.Once
	return &ingest.Registered{Repositories: r, List: func(ctx context.Context) ([]catalog.Location, error) {
		all, err := a.store.Locations(ctx)
		if err == nil {
			once.Do(func() {
				if err := r.clear(all); err != nil {
					a.telemetry.log.WarnContext(ctx, "files of repositories that are no longer registered could not be removed", "error", err)
				}
			})
		}
		return all, err
	}}
}

// register opens the room's registration.
func (a *App) register() {
	l := a.cfg.Catalog.Locations
	if l == nil {
		return
	}
	a.catalog.AttachRegistration(catalog.Registration{Store: a.store, Reader: a.ingester, Max: cmp.Or(l.Max, defaultLocations)})
}

// watchLocations has registered locations looked up again when any replica
// has changed them.
func (a *App) watchLocations(ctx context.Context) error {
	if a.cfg.Catalog.Locations == nil {
		return nil
	}
	tick := time.NewTicker(lookAtLocations)
	defer tick.Stop()
	var seen int64
	for {
		now, err := a.store.LocationsRevision(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			a.telemetry.log.WarnContext(ctx, "it cannot be told whether registered locations have changed", "error", err)
		case err == nil && now != seen:
			seen = now
			a.ingester.Rediscover()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// readable is one rule of what may be read for a registered location.
type readable struct {
	// repository is the one repository that the rule is of; "" for a host.
	repository string
	host       string
	// owner narrows a host to what is below a path: what one organization,
	// user or group owns.
	owner string
	// template is what the repositories' sources have in common.
	template git.SourceConfig
}

// readable lists what may be read: repositories that are configured, then
// what the tokens of configured forges are for, listed hosts, and at last what
// anybody may read at the hosts of configured forges.
func (c *Config) readable() []readable {
	var repos, owned, open []readable
	add := func(at, owner string, token forge.Credentials) {
		host, below := hostIn(at)
		cred := git.Credentials{TokenFile: token.TokenFile, TokenEnv: token.TokenEnv}
		owned = append(owned, readable{host: host, owner: path.Join(below, owner), template: git.SourceConfig{Credentials: cred}})
		open = append(open, readable{host: host, owner: below})
	}
	for _, s := range c.Catalog.Sources {
		switch {
		case s.Git != nil:
			repos = append(repos, readable{repository: entity.RepositoryKey(cmp.Or(s.Git.WebURL, s.Git.URL)), template: *s.Git})
		case s.GitHub != nil:
			add(cmp.Or(s.GitHub.URL, s.GitHub.Host, "github.com"), cmp.Or(s.GitHub.Org, s.GitHub.User), s.GitHub.Token())
		case s.Gitea != nil:
			add(cmp.Or(s.Gitea.URL, s.Gitea.Host), cmp.Or(s.Gitea.Org, s.Gitea.User), s.Gitea.Token())
		case s.GitLab != nil:
			add(cmp.Or(s.GitLab.URL, s.GitLab.Host, "gitlab.com"), cmp.Or(s.GitLab.Group, s.GitLab.User), s.GitLab.Token())
		}
	}
	var hosts []LocationHost
	if c.Catalog.Locations != nil {
		hosts = c.Catalog.Locations.Hosts
	}
	for _, h := range hosts {
		host, _ := hostIn(h.Host)
		owned = append(owned, readable{host: host, template: git.SourceConfig{Credentials: h.Credentials, Limits: h.Limits}})
	}
	return slices.Concat(repos, owned, open)
}

// hostIn is the host of a host or a URL, as git.FileURL has it, and the path
// below which its owners are.
func hostIn(s string) (host, below string) {
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	f, err := git.ParseFileURL(strings.TrimRight(s, "/") + "/owner/repository/blob/main/file")
	if err != nil {
		return "", ""
	}
	return f.Host, strings.TrimSuffix(strings.TrimSuffix(f.Owner, "owner"), "/")
}

func (r *readable) holds(f git.FileURL) bool {
	if r.repository != "" {
		return entity.RepositoryKey(f.WebURL) == r.repository
	}
	return r.host != "" && r.host == f.Host && (r.owner == "" || strings.EqualFold(r.owner, f.Owner) ||
		strings.HasPrefix(strings.ToLower(f.Owner), strings.ToLower(r.owner)+"/"))
}

// repositories opens the repositories of registered locations.
type repositories struct {
	dir, base        string
	since            time.Time // what is there from before may be cleared
	rules            []readable
	fetches, passing *git.Limiter
}

// Repository makes the source of a target's repository and branch.
func (r *repositories) Repository(target string) (ingest.Source, error) {
	name, cfg, err := r.config(target)
	if err != nil {
		return nil, err
	}
	return r.open(name, cfg, folder(name), r.fetches)
}

// folder is where the repository of that name is kept.
func folder(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// Passing is Repository for one reading.
func (r *repositories) Passing(target string) (ingest.Source, error) {
	name, cfg, err := r.config(target)
	if err != nil {
		return nil, err
	}
	return r.open(name, cfg, "passing-"+uuid.NewString(), r.passing)
}

func (r *repositories) open(name string, cfg git.SourceConfig, dir string, fetches *git.Limiter) (ingest.Source, error) {
	src, err := git.NewSource(name, cfg, filepath.Join(r.dir, dir), r.base, fetches)
	if err != nil {
		return nil, err
	}
	return bare{src}, nil
}

// config is how a target's repository is read.
func (r *repositories) config(target string) (name string, cfg git.SourceConfig, err error) {
	f, err := git.ParseFileURL(target)
	if err != nil {
		return "", cfg, err
	}
	i := slices.IndexFunc(r.rules, func(rule readable) bool { return rule.holds(f) })
	if i < 0 {
		return "", cfg, fault.New(fault.Forbidden, "%s is neither in a repository of a configured source nor at a host that may be read", target).
			WithFix("Have the operators add host: %s to catalog.locations.hosts, or the repository to catalog.sources.", f.Host)
	}
	cfg = r.rules[i].template
	if r.rules[i].repository == "" {
		cfg.URL, cfg.WebURL = f.CloneURL(), f.WebURL
	} else {
		cfg.WebURL = cmp.Or(cfg.WebURL, f.WebURL)
	}
	cfg.Ref, cfg.Forge, cfg.Include = f.Ref, f.Forge, nil
	_, page, _ := strings.Cut(f.WebURL, "://")
	return ingest.RegisteredName + "/" + page + "@" + cmp.Or(f.Ref, "HEAD"), cfg, nil
}

// bare is a repository of which no file is a catalog file by itself.
type bare struct{ *git.Source }

// Describe says what the source is.
func (b bare) Describe() ingest.Description {
	d := b.Source.Describe()
	d.Include = nil
	return d
}

// clear removes the files of repositories that no registered location needs:
// those of one that was removed meanwhile, or what a crash has left.
func (r *repositories) clear(all []catalog.Location) error {
	needed := map[string]bool{}
	for _, l := range all {
		if name, _, err := r.config(l.Target); err == nil {
			needed[folder(name)] = true
		}
	}
	there, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range there {
		if info, err := e.Info(); needed[e.Name()] || err != nil || info.ModTime().After(r.since) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
