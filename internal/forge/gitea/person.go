package gitea

import (
	"context"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// As is a client of the same host for other credentials, a person's own. It
// uses the same connections, and their budget.
func (c *Client) As(credentials forge.Credentials, budgets *forge.Budgets) (*Client, error) {
	cfg := c.cfg
	cfg.Credentials, cfg.TokenFile, cfg.TokenEnv = credentials, "", ""
	return build(c.name, cfg, "", []Option{func(n *Client) { n.wire.Transport = c.wire.Transport }, WithBudgets(budgets)})
}

// Flow is how persons let Fairlead act for them; nil where that is not
// configured. Gitea has no way for an application to revoke a token.
func (c *Client) Flow(dir string, budgets *forge.Budgets) *forge.Flow {
	if !c.cfg.OAuth.Set() {
		return nil
	}
	at := c.wire.Base
	return &forge.Flow{OAuth: c.cfg.OAuth, Dir: dir, Host: c.wire.Host, Name: c.name, Authorize: at.JoinPath("login/oauth/authorize"), Exchange: at.JoinPath("login/oauth/access_token"),
		Scopes: []string{"write:repository", "write:issue", "read:user"}, Transport: c.wire.Transport,
		Login: func(ctx context.Context, credentials forge.Credentials) (string, error) {
			as, err := c.As(credentials, budgets)
			if err != nil {
				return "", err
			}
			api, err := as.apiOver(ctx, as.act)
			if err != nil {
				return "", err
			}
			me, _, err := api.GetMyUserInfo()
			if err != nil {
				return "", as.wire.Explain("asking whose account it is", err)
			}
			return me.UserName, nil
		}}
}
