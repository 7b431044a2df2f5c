package github

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// As is a client of the same host for other credentials, a person's own. It
// uses the same connections, and their budget.
func (c *Client) As(credentials forge.Credentials, budgets *forge.Budgets) (*Client, error) {
	cfg := c.cfg
	cfg.Credentials, cfg.TokenFile, cfg.TokenEnv = credentials, "", ""
	return build(c.name, cfg, "", []Option{WithTransport(c.wire.Transport), WithBudgets(budgets)})
}

// Flow is how persons let Fairlead act for them; nil where that is not
// configured. An app of GitHub's has the rights that it was made with, whatever
// it asks for.
func (c *Client) Flow(dir string, budgets *forge.Budgets) *forge.Flow {
	if !c.cfg.OAuth.Set() {
		return nil
	}
	at := c.at.web
	return &forge.Flow{OAuth: c.cfg.OAuth, Dir: dir, Host: c.wire.Host, Name: c.name, Authorize: at.JoinPath("login/oauth/authorize"), Exchange: at.JoinPath("login/oauth/access_token"),
		Scopes: []string{"repo"}, Transport: c.wire.Transport,
		Login: func(ctx context.Context, credentials forge.Credentials) (string, error) {
			as, err := c.As(credentials, budgets)
			if err != nil {
				return "", err
			}
			me, _, err := as.act.Users.Get(ctx, "")
			return me.GetLogin(), as.wire.Explain("asking whose account it is", err)
		},
		Forget: func(ctx context.Context, over *http.Client, id, secret string, t gitops.Token) (*http.Response, error) {
			body, err := json.Marshal(map[string]string{"access_token": t.Reveal()})
			if err != nil {
				return nil, err
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.at.rest.JoinPath("applications", url.PathEscape(id), "grant").String(), bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			req.Header.Set("Accept", "application/vnd.github+json")
			req.SetBasicAuth(id, secret)
			return over.Do(req)
		}}
}
