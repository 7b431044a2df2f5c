package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The types of Backstage's tokens: of a user; of a user with no more than the
// name, as cookies and plug-ins carry it; and of a back-end plug-in.
const (
	typeUser    = "vnd.backstage.user"
	typeLimited = "vnd.backstage.limited-user"
	typePlugin  = "vnd.backstage.plugin"
)

// forBackstage is the audience of users' tokens.
const forBackstage = "backstage"

// standsFor is the plug-in that Fairlead serves in place of Backstage's: the
// audience of plug-ins' tokens.
const standsFor = "catalog"

func ofBackstage(t *token) bool { return strings.HasPrefix(t.header.Type, "vnd.backstage.") }

// backstage is a back end of Backstage.
type backstage struct {
	cfg        access.BackstageConfig
	url        string
	credential string
	client     *http.Client
	users      *keys
	plugins    map[string]*keys
	now        func() time.Time
}

func newBackstage(cfg access.BackstageConfig, client *http.Client, opts Options) *backstage {
	b := &backstage{cfg: cfg, url: strings.TrimSuffix(cfg.URL, "/"), client: client, now: opts.Now, plugins: map[string]*keys{},
		credential: credentialName(cfg.Name, "backstage", hostOf(cfg.URL))}
	b.users = newKeys(b.url, opts, func(ctx context.Context) ([]jose.JSONWebKey, error) {
		return fetchKeys(ctx, client, b.url+"/api/auth/.well-known/jwks.json")
	})
	for _, id := range slices.AppendSeq(slices.Clone(cfg.Plugins), maps.Keys(cfg.Readers)) {
		b.plugins[id] = newKeys("plug-in "+id+" of "+b.url, opts, func(ctx context.Context) ([]jose.JSONWebKey, error) {
			return fetchKeys(ctx, client, b.url+"/api/"+id+"/.backstage/auth/v1/jwks.json")
		})
	}
	return b
}

// knows tells whether the back end is known to have a token's key.
func (b *backstage) knows(t *token) bool {
	if t.header.Type == typePlugin {
		id, _ := t.claims["sub"].(string)
		return b.plugins[id] != nil && b.plugins[id].knows(t.header)
	}
	return b.users.knows(t.header)
}

// verify tells whom one of the back end's tokens stands for.
func (b *backstage) verify(ctx context.Context, t *token) (*access.Principal, error) {
	switch t.header.Type {
	case typeUser:
		return b.user(ctx, t)
	case typeLimited:
		return b.limited(ctx, t)
	case typePlugin:
		return b.plugin(ctx, t)
	default:
		return nil, fault.New(fault.Unauthenticated, "the token is of Backstage's type %s, which lets nobody in", quoted(t.header.Type)).
			WithFix("Send the token of a user.")
	}
}

// holds checks what holds for all of the back end's tokens.
func (b *backstage) holds(ctx context.Context, t *token, from *keys) error {
	if err := t.signedAsAllowed(access.SigningAlgorithms()); err != nil {
		return err
	}
	found, err := from.find(ctx, t.header)
	if err != nil {
		return err
	}
	if err := signature(ctx, t, found); err != nil {
		return err
	}
	return t.claims.timely(b.now(), defaultSkew)
}

// user is the person of a user's token.
func (b *backstage) user(ctx context.Context, t *token) (*access.Principal, error) {
	if err := b.holds(ctx, t, b.users); err != nil {
		return nil, err
	}
	if err := t.claims.forOneOf([]string{forBackstage}); err != nil {
		return nil, err
	}
	return b.person(ctx, t)
}

// limited is the person of a limited user's token, which names no audience.
func (b *backstage) limited(ctx context.Context, t *token) (*access.Principal, error) {
	if err := b.holds(ctx, t, b.users); err != nil {
		return nil, err
	}
	return b.person(ctx, t)
}

func (b *backstage) person(ctx context.Context, t *token) (*access.Principal, error) {
	p := &access.Principal{Credential: b.credential, Roles: b.cfg.Roles}
	if p.Subject, _ = t.claims["sub"].(string); p.Subject == "" {
		return nil, fault.New(fault.Unauthenticated, "the token names no user").WithFix("Sign in to Backstage again.")
	}
	var err error
	if owners, told := t.claims["ent"]; told {
		p.Groups = texts(owners)
	} else if p.Groups, err = b.ownership(ctx, t); err != nil {
		return nil, err
	}
	return p, nil
}

// plugin is the person for whom a plug-in asks, by the limited token that its
// own carries, or the plug-in itself.
func (b *backstage) plugin(ctx context.Context, t *token) (*access.Principal, error) {
	id, _ := t.claims["sub"].(string)
	from := b.plugins[id]
	if from == nil {
		return nil, fault.New(fault.Unauthenticated, "tokens of Backstage's plug-in %s are not taken here", quoted(id)).
			WithFix("Send the token of a user, or have the operators add the plug-in to plugins of this Backstage under auth.oidc.")
	}
	if err := b.holds(ctx, t, from); err != nil {
		return nil, err
	}
	if err := t.claims.forOneOf([]string{standsFor}); err != nil {
		return nil, err
	}
	if behalf, _ := t.claims["obo"].(string); behalf != "" {
		return b.behalf(ctx, id, behalf)
	}
	return b.reader(id)
}

// behalf is the person of the limited token that a plug-in's carries.
func (b *backstage) behalf(ctx context.Context, id, limited string) (*access.Principal, error) {
	if !slices.Contains(b.cfg.Plugins, id) {
		return nil, fault.New(fault.Unauthenticated, "Backstage's plug-in %s is not let in for its users here", quoted(id)).
			WithFix("Have the operators add the plug-in to plugins of this Backstage under auth.oidc.")
	}
	inner, err := peek(limited)
	if err != nil {
		return nil, err
	}
	if inner.header.Type != typeLimited {
		return nil, fault.New(fault.Unauthenticated, "the token of Backstage's plug-in %s carries no token of a user", quoted(id)).WithFix("Bring Backstage up to date.")
	}
	p, err := b.limited(ctx, inner)
	if err == nil {
		p.Credential += "/" + id
	}
	return p, err
}

// reader is a plug-in that asks for itself: nobody, if it may not.
func (b *backstage) reader(id string) (*access.Principal, error) {
	subject := b.cfg.Readers[id]
	if subject == "" {
		return nil, fault.New(fault.Unauthenticated, "the token of Backstage's plug-in %s names no person that it asks for", quoted(id)).
			WithFix("Have the plug-in ask with the credentials of its user, or the operators name it under readers of this Backstage.")
	}
	return &access.Principal{Subject: subject, Credential: b.credential + "/" + id, Roles: map[string][]string{"reader": {"*"}}}, nil
}

// ownership asks the back end what a user owns things as, where the token does
// not tell.
func (b *backstage) ownership(ctx context.Context, t *token) ([]string, error) {
	refs, err := b.askOwnership(ctx, t)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the token cannot be checked now: %s does not tell the groups of its user", b.url).
			WithFix("Try again; if it stays, tell the operators.").Because(errors.New(clipped(err.Error()))).After(pause)
	}
	return slices.Clip(refs), nil
}

func (b *backstage) askOwnership(ctx context.Context, t *token) ([]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/api/auth/v1/userinfo", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+t.raw)
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var info struct {
		Claims struct {
			Subject   string   `json:"sub"`
			Ownership []string `json:"ent"`
		} `json:"claims"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		return nil, err
	}
	if info.Claims.Subject != t.claims["sub"] {
		return nil, errors.New("the answer is about another user")
	}
	return info.Claims.Ownership, nil
}
