package app

import (
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/seal"
)

// linkCallback is where forges lead persons back to.
const linkCallback = "/oauth/forges/callback"

// makeLinks opens the room where persons link their accounts at forges.
func (a *App) makeLinks(guard *access.Guard) (err error) {
	if len(a.forges) == 0 {
		return nil
	}
	cfg := gitops.LinkConfig{Guard: guard, Links: a.store, Wishes: a.store, Authorizers: map[string]gitops.Authorizer{}, As: a.forgeAs,
		Callback: func() string { return a.reachedBy() + linkCallback }}
	if p := a.cfg.Proposals; p != nil && p.TokenKeyFile != "" {
		if cfg.Sealer, err = seal.Load(a.cfg.path(p.TokenKeyFile)); err != nil {
			return err
		}
	}
	for _, f := range a.forges {
		cfg.Forges = append(cfg.Forges, f.name)
		if f.flow != nil {
			cfg.Authorizers[f.name] = f.flow
		}
	}
	a.links, err = gitops.NewLinks(cfg)
	return err
}

// reachedBy is how browsers reach the server.
func (a *App) reachedBy() string {
	if a.cfg.PublicURL != "" {
		return strings.TrimSuffix(a.cfg.PublicURL, "/")
	}
	return a.URL()
}

// forgeAs is a forge that acts as a person.
func (a *App) forgeAs(name, person string, t gitops.Token) (gitops.Forge, error) {
	f, err := a.forgeNamed(name)
	if err != nil {
		return nil, err
	}
	return f.as(forge.Lent(person, name, t))
}
