package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Credential is what a request shows of who sends it.
type Credential struct {
	// Bearer is the token of the Authorization header, "" if there is none.
	Bearer string
	// Other tells that there is an Authorization header of another kind.
	Other bool
	// Loopback tells that the request came over the loopback interface, to a
	// loopback name, and through no proxy that says so.
	Loopback bool
}

// CredentialOf reads the credential of an HTTP request. A request that a proxy
// passed on is not from loopback, whoever's address it carries; nor is one
// for a name that is not loopback's, so that a page elsewhere cannot have its
// own name resolve to 127.0.0.1 and read through a browser.
func CredentialOf(r *http.Request) Credential {
	var c Credential
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		token = strings.TrimSpace(token)
		if strings.EqualFold(scheme, "Bearer") && token != "" {
			c.Bearer = token
		} else {
			c.Other = true
		}
	}
	c.Loopback = loopbackAddress(r.RemoteAddr) && loopbackHost(hostOf(r.Host)) && !forwarded(r.Header)
	return c
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func forwarded(h http.Header) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"},
		func(name string) bool { return h.Get(name) != "" })
}

// AuthOptions are what an Authenticator needs beside its configuration; each
// may be left out.
type AuthOptions struct {
	// Dir is where relative token files are found; "" is the working folder.
	Dir string
	// LookupEnv reads the environment; nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Logger is told when a changed token file is taken or refused; nil is
	// slog.Default.
	Logger *slog.Logger
	// Now is the clock that paces looking at token files; nil is time.Now.
	Now func() time.Time
	// Verifier verifies the tokens that others issue, as auth.oidc names them;
	// nil takes none.
	Verifier Verifier
}

func (o AuthOptions) complete() AuthOptions {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Authenticator tells who shows a credential. It is safe for concurrent use.
type Authenticator struct {
	anonymous bool
	tokens    *tokens
	verifier  Verifier
}

// NewAuthenticator reads the tokens that the configuration names. The error is
// a Problems: everything that is wrong with the section or with a token.
func NewAuthenticator(cfg AuthConfig, opts AuthOptions) (*Authenticator, error) {
	if err := cfg.Validate("").err(); err != nil {
		return nil, err
	}
	t, err := newTokens(cfg.Tokens, opts.complete())
	if err != nil {
		return nil, err
	}
	return &Authenticator{anonymous: cfg.Anonymous == AnonymousRead, tokens: t, verifier: opts.Verifier}, nil
}

// Authenticate makes the Caller that a credential stands for. A credential
// that does not hold is an unauthenticated fault, even where anonymous
// reading is on: whoever shows one means to be known by it.
func (a *Authenticator) Authenticate(ctx context.Context, c Credential) (Caller, error) {
	switch {
	case a == nil:
		return Caller{}, fault.From(errors.New("no authenticator is configured"))
	case c.Bearer != "":
		return a.bearer(ctx, c.Bearer)
	case c.Other:
		return Caller{}, fault.New(fault.Unauthenticated, "the Authorization header does not hold a bearer token").
			WithFix("Send the header as Authorization: Bearer TOKEN.")
	case a.anonymous && c.Loopback:
		return Caller{id: &identity{anonymous: true, token: "anonymous"}}, nil
	default:
		return Caller{}, fault.New(fault.Unauthenticated, "the request carries no token").
			WithFix("Send the header Authorization: Bearer TOKEN; on the command line, use --token-file or run fairlead login.")
	}
}

// bearer makes the Caller of a token: one of the configuration's, or one that
// somebody else issued.
func (a *Authenticator) bearer(ctx context.Context, token string) (Caller, error) {
	if id := a.tokens.find(token); id != nil {
		return Caller{id: id}, nil
	}
	if a.verifier == nil || strings.Count(token, ".") != 2 { // not of the form of a signed token
		return Caller{}, fault.New(fault.Unauthenticated, "the bearer token is none that this server knows").
			WithFix("Check that the token is complete and still in use; ask the operators for a new one if it was replaced.")
	}
	p, err := a.verifier.Verify(ctx, token)
	if err != nil {
		return Caller{}, err
	}
	who, err := callerOf(p)
	if err == nil {
		who.id.proof = NewSecret(token)
	}
	return who, err
}

func digestOf(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }
