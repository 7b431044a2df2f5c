package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/git/proposed"
	"github.com/fairlead-dev/fairlead/internal/notify"
)

// ProposalsConfig lets changes be proposed to repositories that are at no
// configured forge, too, and says where answers and skills go.
type ProposalsConfig struct {
	// TokenKeyFile holds the key that the tokens of accounts are kept under which
	// persons have linked: 32 random bytes, as they are or in base64. Further lines
	// are keys from before. Without it none can be linked.
	TokenKeyFile string `yaml:"tokenKeyFile"`
	// Answers and Skills are where they are written; default the service's own
	// repository, below docs/answers and skills.
	Answers FolderConfig `yaml:"answers"`
	Skills  FolderConfig `yaml:"skills"`
	// Verify is how long what was merged and is healthy is watched before it
	// counts, 10m by default.
	Verify time.Duration `yaml:"verify"`
	// Notify are webhooks that are told when a proposal has ended.
	Notify []notify.Config `yaml:"notify"`
}

// FolderConfig is a folder of a repository.
type FolderConfig struct {
	// Repository is its clone URL, or path on disk: one that the catalog reads,
	// or one at a configured forge. Default is the service's own.
	Repository string `yaml:"repository"`
	// Base is the branch that is proposed to; default the repository's own.
	Base string `yaml:"base"`
	// Dir is the folder, relative to the repository's root, or to the service's
	// folder in its own.
	Dir string `yaml:"dir"`
}

// maxVerify is the longest that what is healthy may be watched.
const maxVerify = 6 * time.Hour

func (c *Config) checkProposals(k *checker) {
	if c.Proposals == nil {
		return
	}
	if v := c.Proposals.Verify; v < 0 || v > maxVerify {
		k.add("proposals.verify", "%s is not between 0s and %s; write for example 10m", v, maxVerify)
	}
	urls := map[string]bool{}
	for i := range c.Proposals.Notify {
		if url := c.Proposals.Notify[i].URL; urls[url] {
			k.add(fmt.Sprintf("proposals.notify[%d].url", i), "another webhook has the same URL")
		} else {
			urls[url] = true
		}
		for _, p := range c.Proposals.Notify[i].Validate() {
			k.add(fmt.Sprintf("proposals.notify[%d].%s", i, p.Field), "%s", p.Message)
		}
	}
	for name, f := range map[string]FolderConfig{"answers": c.Proposals.Answers, "skills": c.Proposals.Skills} {
		if f.Dir != "" && (strings.HasPrefix(f.Dir, "/") || strings.Contains(f.Dir, "..") || strings.Contains(f.Dir, `\`)) {
			k.add("proposals."+name+".dir", "%q is no folder below the repository's root; write for example docs/answers", f.Dir)
		}
		probe := git.SourceConfig{URL: f.Repository, Ref: f.Base}
		for _, p := range probe.Validate() {
			if f.Repository != "" || p.Field == "ref" {
				k.add("proposals."+name+"."+map[string]string{"url": "repository", "ref": "base"}[p.Field], "%s", p.Message)
			}
		}
	}
}

// makeProposals opens the room of proposals, where there is a forge or a
// section for it.
func (a *App) makeProposals(guard *access.Guard) (err error) {
	if a.cfg.Proposals == nil && len(a.cfg.Forges) == 0 {
		return nil
	}
	forges := map[string]gitops.Forge{}
	for _, f := range a.forges {
		forges[f.name] = f.client
	}
	if err := a.makeLinks(guard); err != nil {
		return err
	}
	host := "fairlead.invalid"
	if u, err := url.Parse(a.cfg.PublicURL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	mail := func(name string) string { return mailName(name) + "@noreply." + host }
	repos := &proposalRepos{previewRepos: a.previewRepositories(), forgeOf: a.forgeOf, dir: filepath.Join(a.cfg.Cache, "git", "proposals"),
		committer: git.Signature{Name: "Fairlead", Email: mail("fairlead")}, open: map[string]*git.Source{}}
	renderer, err := a.renderer()
	if err != nil {
		return err
	}
	var lives gitops.Lives
	if a.health != nil {
		lives = a.health
	}
	a.gitops, err = gitops.New(gitops.Config{Renderer: renderer, Lives: lives, Policy: a.cfg.policy, Guard: guard, Catalog: a.catalog, Repositories: repos, Forges: forges, Records: a.store, Reads: a.store, Figures: a.store, Accounts: a.links, Mail: mail,
		Follow: a.following(repos), Fleets: a.fleets(), Health: a.health})
	if err == nil {
		err = a.makeCI(repos)
	}
	if err == nil {
		a.knowledge.AttachProposer(&documentProposer{gitops: a.gitops, repos: repos, catalog: a.catalog, cfg: a.cfg.Proposals})
	}
	return err
}

// mailName is a name as the part of an address before the @.
func mailName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return cmp.Or(strings.Trim(out, ".-"), "somebody")
}

// proposalRepos are the repositories that changes are proposed to: those of
// services, and those at configured forges.
type proposalRepos struct {
	*previewRepos
	forgeOf   func(repository string) (*writing, string)
	dir       string
	committer git.Signature

	mu   sync.Mutex
	open map[string]*git.Source
}

// Locate finds where a service's own files are.
func (p *proposalRepos) Locate(e *catalog.Entity) (gitops.Place, error) {
	cfg, dir, err := p.of(e)
	if err != nil {
		return gitops.Place{}, err
	}
	at := p.place(cfg)
	at.Dir = dir
	return at, nil
}

// Named finds a repository by its URL.
func (p *proposalRepos) Named(repository, base string) (gitops.Place, error) {
	cfg, err := p.found(p.absolute(repository))
	if err != nil {
		return gitops.Place{}, err
	}
	cfg.Ref = cmp.Or(base, cfg.Ref)
	return p.place(cfg), nil
}

func (p *proposalRepos) place(cfg git.SourceConfig) gitops.Place {
	at := gitops.Place{Repository: p.absolute(cfg.URL), Base: strings.TrimPrefix(cfg.Ref, "refs/heads/")}
	if w, name := p.forgeOf(cmp.Or(cfg.WebURL, at.Repository)); w != nil {
		at.Forge, at.Name = w.name, name
	}
	return at
}

// found is how a repository is read and written: as the catalog reads it, or as
// one at a configured forge, with the forge's token.
func (p *proposalRepos) found(repository string) (git.SourceConfig, error) {
	w, name := p.forgeOf(repository)
	cfg, err := p.at(repository)
	switch {
	case w == nil:
		return cfg, err
	case err == nil && cfg.Credentials.SSHKeyFile != "":
		return cfg, nil
	}
	if err != nil {
		cfg = git.SourceConfig{}
	}
	cfg.URL = w.web.JoinPath(name + ".git").String()
	cfg.Credentials = git.Credentials{TokenFile: w.token.TokenFile, TokenEnv: w.token.TokenEnv}
	return cfg, nil
}

// Open gives the newest commit of a place's branch.
func (p *proposalRepos) Open(ctx context.Context, at gitops.Place) (gitops.Repository, gitops.Base, error) {
	src, err := p.branch(at)
	if err != nil {
		return nil, gitops.Base{}, err
	}
	return proposed.Base(ctx, src, at.Base, p.committer)
}

// branch is the source of a place's branch.
func (p *proposalRepos) branch(at gitops.Place) (*git.Source, error) {
	cfg, err := p.found(at.Repository)
	if err != nil {
		return nil, err
	}
	return p.source(cfg, at.Base)
}

// source is the one source of a repository and branch: what it has fetched
// serves the next call.
func (p *proposalRepos) source(cfg git.SourceConfig, branch string) (*git.Source, error) {
	cfg.Include, cfg.Ref = nil, ""
	if branch != "" {
		cfg.Ref = "refs/heads/" + branch
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", cfg.URL, cfg.Ref))
	key := hex.EncodeToString(sum[:12])
	p.mu.Lock()
	defer p.mu.Unlock()
	if src := p.open[key]; src != nil {
		return src, nil
	}
	src, err := git.NewSource("proposals", cfg, filepath.Join(p.dir, key), p.base, p.fetches)
	if err == nil {
		p.open[key] = src
	}
	return src, err
}
