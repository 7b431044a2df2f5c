// Package oidc verifies tokens that others issue: those of OpenID Connect
// issuers, and those of the users of a Backstage back end. It alone knows the
// library that does so.
//
// Keys are fetched when they are first needed, kept, and fetched again when
// they have become old or a token names one that is not known. An issuer that
// does not answer is in nobody's way but its own tokens'.
package oidc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Options are what a Verifier works with; each may be left out.
type Options struct {
	// TLS is how issuers are trusted; nil trusts what the system trusts.
	TLS *tls.Config
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger is told when keys could not be fetched; nil is slog.Default.
	Logger *slog.Logger
	// Guest is whose tokens are taken, too; nil for none.
	Guest *Guest
}

// Verifier verifies the tokens of all configured issuers. It is an
// access.Verifier.
type Verifier struct {
	issuers    map[string]*issuer // by the issuer that tokens name
	backstages []*backstage
	order      []*keys // of all of them, as configured
	servers    []string
	known      *verified
	now        func() time.Time
}

// Status is how an issuer is doing.
type Status struct {
	// Name is the issuer's, or the URL of a Backstage back end.
	Name string
	// Keys is how many keys are known, 0 before they have been fetched.
	Keys int
	// Trouble says why keys cannot be fetched, "" if nothing is wrong.
	Trouble string
}

// New makes a verifier of the entries of a valid configuration. Nothing is
// fetched.
func New(cfg access.OIDCConfigs, opts Options) *Verifier {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	v := &Verifier{issuers: map[string]*issuer{}, known: &verified{}, now: opts.Now}
	client := newClient(opts.TLS)
	if opts.Guest != nil {
		v.backstages = append(v.backstages, opts.Guest.backstage(opts))
	}
	for _, c := range cfg {
		for _, b := range c.Backstage {
			v.addBackstage(b, client, opts)
		}
		if c.Issuer != "" {
			i := newIssuer(c, client, opts)
			v.issuers[c.Issuer] = i
			v.order = append(v.order, i.keys)
			v.servers = append(v.servers, c.Issuer)
		}
	}
	return v
}

func (v *Verifier) addBackstage(cfg access.BackstageConfig, client *http.Client, opts Options) {
	b := newBackstage(cfg, client, opts)
	v.backstages = append(v.backstages, b)
	v.order = append(v.order, b.users)
	if cfg.AuthorizationServer {
		v.servers = append(v.servers, b.url+"/api/auth")
	}
}

// Issuers are the issuers at which clients can get tokens.
func (v *Verifier) Issuers() []string { return v.servers }

// Verify tells whom a token stands for.
func (v *Verifier) Verify(ctx context.Context, token string) (*access.Principal, error) {
	now := v.now()
	if p := v.known.get(token, now); p != nil {
		return p, nil
	}
	t, err := peek(token)
	if err != nil {
		return nil, err
	}
	p, err := v.verify(ctx, t)
	if err != nil {
		return nil, err
	}
	v.known.put(token, p, now, t.claims.time("exp"))
	return p, nil
}

// verify asks the issuer that a token says it is of.
func (v *Verifier) verify(ctx context.Context, t *token) (*access.Principal, error) {
	if ofBackstage(t) {
		return v.verifyBackstage(ctx, t)
	}
	name, _ := t.claims["iss"].(string)
	if i := v.issuers[name]; i != nil {
		return i.verify(ctx, t)
	}
	return nil, fault.New(fault.Unauthenticated, "tokens of the issuer %s are not taken here", quoted(name)).
		WithFix("Get a token of an issuer that this server lists in its metadata, or have the operators add this one under auth.oidc.")
}

// verifyBackstage asks the back end whose key a token names; of several, those
// first that know the key already.
func (v *Verifier) verifyBackstage(ctx context.Context, t *token) (*access.Principal, error) {
	if len(v.backstages) == 0 {
		return nil, fault.New(fault.Unauthenticated, "tokens of Backstage are not taken here").
			WithFix("Have the operators add the back end: auth: {oidc: [{backstage: [{url: https://backstage.example.com}]}]}.")
	}
	for _, b := range v.backstages {
		if b.knows(t) {
			return b.verify(ctx, t)
		}
	}
	var err error
	for _, b := range v.backstages {
		var p *access.Principal
		if p, err = b.verify(ctx, t); err == nil {
			return p, nil
		}
	}
	return nil, err
}

// Status tells how each issuer is doing.
func (v *Verifier) Status() []Status {
	out := make([]Status, 0, len(v.order))
	for _, k := range v.order {
		out = append(out, k.status())
	}
	return out
}

// Warm fetches the keys of every issuer once, so that trouble is known before
// the first token comes. It returns when all have answered or given up, which
// takes seconds at most.
func (v *Verifier) Warm(ctx context.Context) {
	var all beside.All
	for _, k := range v.order {
		all.Go(func() { _ = k.refresh(ctx) }) // the status tells
	}
	all.Wait()
}
