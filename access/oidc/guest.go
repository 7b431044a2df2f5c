package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/access"
)

// guestFor is how long a guest's token is taken; front ends ask for another
// before that.
const guestFor = time.Hour

// Guest issues tokens of one user in the form of a Backstage back end's, for a
// front end that has none. Its key lives as long as the process.
type Guest struct {
	cfg    access.GuestConfig
	signer jose.Signer
	public jose.JSONWebKey
	now    func() time.Time
}

// NewGuest makes the guest of a valid configuration; now is the clock, nil for
// time.Now.
func NewGuest(cfg access.GuestConfig, now func() time.Time) (*Guest, error) {
	if now == nil {
		now = time.Now
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	private := jose.JSONWebKey{Key: key, KeyID: "guest-" + rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, (&jose.SignerOptions{}).WithType(typeUser))
	if err != nil {
		return nil, err
	}
	return &Guest{cfg: cfg, signer: signer, public: private.Public(), now: now}, nil
}

// User is the guest, by reference, and what they own things as.
func (g *Guest) User() (ref string, ownership []string) {
	return g.cfg.Subject, append([]string{g.cfg.Subject}, g.cfg.Groups...)
}

// Token issues a token and tells when it ends.
func (g *Guest) Token() (token string, expires time.Time, err error) {
	now := g.now()
	expires = now.Add(guestFor)
	ref, ownership := g.User()
	claims, err := json.Marshal(map[string]any{"iss": "fairlead", "sub": ref, "ent": ownership, "aud": forBackstage, "iat": now.Unix(), "exp": expires.Unix()})
	if err != nil {
		return "", expires, err
	}
	signed, err := g.signer.Sign(claims)
	if err != nil {
		return "", expires, err
	}
	token, err = signed.CompactSerialize()
	return token, expires, err
}

// backstage is the back end that the guest's tokens are as if of.
func (g *Guest) backstage(opts Options) *backstage {
	roles := map[string][]string{}
	for _, r := range g.cfg.Roles {
		roles[r] = []string{"*"}
	}
	return &backstage{cfg: access.BackstageConfig{Roles: roles}, url: "guest", credential: "guest", plugins: map[string]*keys{}, now: opts.Now,
		users: newKeys("the guest", opts, func(context.Context) ([]jose.JSONWebKey, error) { return []jose.JSONWebKey{g.public}, nil })}
}
