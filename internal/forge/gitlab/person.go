package gitlab

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/fairlead-dev/fairlead/gitops"
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
// configured.
func (c *Client) Flow(dir string, budgets *forge.Budgets) *forge.Flow {
	if !c.cfg.OAuth.Set() {
		return nil
	}
	at := c.wire.Base
	return &forge.Flow{OAuth: c.cfg.OAuth, Dir: dir, Host: c.wire.Host, Name: c.name, Authorize: at.JoinPath("oauth/authorize"), Exchange: at.JoinPath("oauth/token"),
		Scopes: []string{"api"}, Transport: c.wire.Transport,
		Login: func(ctx context.Context, credentials forge.Credentials) (string, error) {
			as, err := c.As(credentials, budgets)
			if err != nil {
				return "", err
			}
			me, _, err := as.act.Users.CurrentUser(gl.WithContext(ctx))
			if err != nil {
				return "", as.wire.Explain("asking whose account it is", err)
			}
			return me.Username, nil
		},
		Forget: func(ctx context.Context, over *http.Client, id, secret string, t gitops.Token) (*http.Response, error) {
			form := url.Values{"client_id": {id}, "client_secret": {secret}, "token": {t.Reveal()}}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath("oauth/revoke").String(), strings.NewReader(form.Encode()))
			if err != nil {
				return nil, err
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return over.Do(req)
		}}
}
