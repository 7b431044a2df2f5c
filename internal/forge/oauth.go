package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// OAuth is Fairlead as an OAuth application of a forge, by which persons link
// their own accounts.
type OAuth struct {
	// ClientID is what the forge calls it.
	ClientID string `yaml:"clientID"`
	// ClientSecretFile holds its secret, relative to the configuration's folder;
	// read anew each time.
	ClientSecretFile string `yaml:"clientSecretFile"`
	// Scopes are what persons are asked for, in the place of what proposals need.
	Scopes []string `yaml:"scopes"`
}

// Set tells whether it is configured.
func (o OAuth) Set() bool { return o.ClientID != "" || o.ClientSecretFile != "" || len(o.Scopes) > 0 }

// Validate adds what is wrong with it to ps.
func (o OAuth) Validate(ps *Problems) {
	if !o.Set() {
		return
	}
	if o.ClientID == "" {
		ps.Add("oauth.clientID", "the id of the OAuth application is missing")
	}
	if o.ClientSecretFile == "" {
		ps.Add("oauth.clientSecretFile", "the file with the secret of the OAuth application is missing")
	}
}

// ValidateNone adds a problem where it is configured for a source.
func (o OAuth) ValidateNone(ps *Problems) {
	if o.Set() {
		ps.Add("oauth", "it is for forges; a source is read by its own token")
	}
}

// secret reads the secret of the application.
func (o OAuth) secret(dir string) (string, error) {
	text, err := Credentials{TokenFile: in(dir, o.ClientSecretFile)}.token()
	if err != nil {
		return "", fault.New(fault.FailedPrecondition, "the secret of the OAuth application: %v", err).WithFix("Put it there, where the user who runs Fairlead may read it.")
	}
	return text, nil
}

// Flow is how persons let Fairlead act for them at one forge. It is a
// gitops.Authorizer.
type Flow struct {
	// OAuth is the application, Dir what its file is relative to.
	OAuth OAuth
	Dir   string
	// Host is the forge's name for people, Name what it is called here.
	Host, Name string
	// Authorize and Exchange are the addresses of its two steps.
	Authorize, Exchange *url.URL
	// Scopes are what proposals need.
	Scopes []string
	// Login tells whose a token is.
	Login func(ctx context.Context, c Credentials) (string, error)
	// Forget has the forge revoke a token, as the application; nil where it
	// cannot.
	Forget func(ctx context.Context, over *http.Client, id, secret string, t gitops.Token) (*http.Response, error)
	// Transport makes the connections.
	Transport http.RoundTripper
}

const exchangeTimeout = 20 * time.Second

func (f *Flow) config(secret, callback string) *oauth2.Config {
	scopes := f.Scopes
	if len(f.OAuth.Scopes) > 0 {
		scopes = f.OAuth.Scopes
	}
	return &oauth2.Config{ClientID: f.OAuth.ClientID, ClientSecret: secret, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: f.Authorize.String(), TokenURL: f.Exchange.String(), AuthStyle: oauth2.AuthStyleInParams}}
}

// over is a client that goes nowhere else.
func (f *Flow) over() *http.Client {
	return &http.Client{Transport: f.Transport, Timeout: exchangeTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Ask is the page at which a person agrees.
func (f *Flow) Ask(state, verifier, callback string) string {
	return f.config("", callback).AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
}

// Take exchanges a code.
func (f *Flow) Take(ctx context.Context, code, verifier, callback string) (*gitops.Grant, error) {
	return f.exchange(ctx, callback, func(ctx context.Context, c *oauth2.Config) (*oauth2.Token, error) {
		return c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// Renew exchanges a refresh token.
func (f *Flow) Renew(ctx context.Context, refresh gitops.Token) (*gitops.Grant, error) {
	return f.exchange(ctx, "", func(ctx context.Context, c *oauth2.Config) (*oauth2.Token, error) {
		return c.TokenSource(ctx, &oauth2.Token{RefreshToken: refresh.Reveal()}).Token()
	})
}

func (f *Flow) exchange(ctx context.Context, callback string, get func(context.Context, *oauth2.Config) (*oauth2.Token, error)) (*gitops.Grant, error) {
	secret, err := f.OAuth.secret(f.Dir)
	if err != nil {
		return nil, err
	}
	t, err := get(context.WithValue(ctx, oauth2.HTTPClient, f.over()), f.config(secret, callback))
	if err != nil {
		return nil, f.explain(err)
	}
	g := &gitops.Grant{Token: gitops.NewToken(t.AccessToken), Refresh: gitops.NewToken(t.RefreshToken), Expires: t.Expiry.UTC().Truncate(time.Second)}
	if t.Expiry.IsZero() {
		g.Expires = time.Time{}
	}
	if !strings.EqualFold(t.Type(), "bearer") && !strings.EqualFold(t.Type(), "token") {
		return nil, fault.New(fault.FailedPrecondition, "%s gives a token of a kind that is not known, %.40q", f.Host, t.Type()).WithFix("Check that the address is that of the forge.")
	}
	g.Account, err = f.Login(ctx, Lent("somebody", f.Name, g.Token))
	return g, err
}

// explain turns what went wrong into words; what the forge said beside its code
// stays out, as it may hold what was sent.
func (f *Flow) explain(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return Wire{Host: f.Host}.Explain("exchanging what was agreed to", err)
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	cause := fmt.Errorf("HTTP status %d, %.80q", status, refused.ErrorCode)
	switch {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "%s is in trouble, or busy (HTTP %d)", f.Host, status).WithFix("Try again.").Because(cause)
	case refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client" || refused.ErrorCode == "incorrect_client_credentials":
		return fault.New(fault.Unavailable, "%s does not know Fairlead as the OAuth application that it is configured as", f.Host).
			WithFix("Have the operators correct oauth.clientID and oauth.clientSecretFile of the forge.").Because(cause)
	}
	return fault.New(fault.FailedPrecondition, "%s does not take what it was to exchange for a token (%.40q)", f.Host, refused.ErrorCode).WithFix("Link the account anew.").Because(cause)
}

// Revoke has the forge forget a token.
func (f *Flow) Revoke(ctx context.Context, g gitops.Grant) error {
	if f.Forget == nil {
		return gitops.ErrNoRevoking
	}
	secret, err := f.OAuth.secret(f.Dir)
	if err != nil {
		return err
	}
	resp, err := f.Forget(ctx, f.over(), f.OAuth.ClientID, secret, g.Token)
	if err != nil {
		return Wire{Host: f.Host}.Explain("revoking a token", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest && resp.StatusCode != http.StatusNotFound { // it is gone already
		return fault.New(fault.Unavailable, "%s does not revoke it (HTTP %d)", f.Host, resp.StatusCode).WithFix("Revoke it there.")
	}
	return nil
}
