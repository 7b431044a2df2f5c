package oidc

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// defaultSkew is how far clocks may be apart where nothing is configured.
const defaultSkew = 30 * time.Second

// issuer is an issuer by OpenID Connect.
type issuer struct {
	cfg        access.OIDCConfig
	credential string
	keys       *keys
	now        func() time.Time
}

func newIssuer(cfg access.OIDCConfig, client *http.Client, opts Options) *issuer {
	cfg.SubjectClaim = cmp.Or(cfg.SubjectClaim, "sub")
	cfg.GroupsClaim = cmp.Or(cfg.GroupsClaim, "groups")
	cfg.AgentClaim = cmp.Or(cfg.AgentClaim, "act.sub")
	cfg.ClockSkew = cmp.Or(cfg.ClockSkew, defaultSkew)
	if len(cfg.Algorithms) == 0 {
		cfg.Algorithms = access.SigningAlgorithms()
	}
	i := &issuer{cfg: cfg, now: opts.Now, credential: credentialName(cfg.Name, "oidc", hostOf(cfg.Issuer))}
	i.keys = newKeys(cfg.Issuer, opts, func(ctx context.Context) ([]jose.JSONWebKey, error) {
		at, err := i.discover(ctx, client)
		if err != nil {
			return nil, err
		}
		return fetchKeys(ctx, client, at)
	})
	return i
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// discover finds where the issuer's keys are.
func (i *issuer) discover(ctx context.Context, client *http.Client) (string, error) {
	if i.cfg.JWKS != "" {
		return i.cfg.JWKS, nil
	}
	p, err := gooidc.NewProvider(gooidc.ClientContext(ctx, client), i.cfg.Issuer)
	if err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	var doc struct {
		JWKS string `json:"jwks_uri"`
	}
	if err := p.Claims(&doc); err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	return doc.JWKS, i.trusted(doc.JWKS)
}

// trusted refuses an address of keys that is less well kept than the issuer's
// own.
func (i *issuer) trusted(at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil {
		return errors.New("discovery: jwks_uri is no URL of keys")
	}
	own, err := url.Parse(i.cfg.Issuer)
	if err != nil {
		return err
	}
	if u.Scheme != "https" && (u.Scheme != own.Scheme || u.Host != own.Host) {
		return fmt.Errorf("discovery: the keys at %s would be fetched without encryption", quoted(at))
	}
	return nil
}

// types are what the type of a token may be: it is left out, or says that it
// is a token at all, or an access token (RFC 9068). Others are for other uses.
func usualType(typ string) bool {
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "at+jwt":
		return true
	default:
		return false
	}
}

// verify tells whom one of the issuer's tokens stands for.
func (i *issuer) verify(ctx context.Context, t *token) (*access.Principal, error) {
	if !usualType(t.header.Type) {
		return nil, fault.New(fault.Unauthenticated, "the token is of the type %s, which lets nobody in", quoted(t.header.Type)).
			WithFix("Send an access token or an id token.")
	}
	if err := t.signedAsAllowed(i.cfg.Algorithms); err != nil {
		return nil, err
	}
	found, err := i.keys.find(ctx, t.header)
	if err != nil {
		return nil, err
	}
	if err := signature(ctx, t, found); err != nil {
		return nil, err
	}
	if err := t.claims.timely(i.now(), i.cfg.ClockSkew); err != nil {
		return nil, err
	}
	if err := t.claims.forOneOf(i.cfg.Audience); err != nil {
		return nil, err
	}
	return i.principal(t.claims)
}

// signature checks that one of some keys has signed a token.
func signature(ctx context.Context, t *token, found []crypto.PublicKey) error {
	set := gooidc.StaticKeySet{PublicKeys: found}
	if _, err := set.VerifySignature(ctx, t.raw); err != nil {
		return fault.New(fault.Unauthenticated, "the token's signature does not hold").
			WithFix("Check that the token is complete and unchanged; get a new one.").Because(errors.New(clipped(err.Error())))
	}
	return nil
}

// principal is whom claims that hold are about.
func (i *issuer) principal(c claims) (*access.Principal, error) {
	p := &access.Principal{Credential: i.credential, Roles: i.cfg.Roles}
	var err error
	if p.Subject, err = i.subject(c); err != nil {
		return nil, err
	}
	if agent, begun := c.at(i.cfg.AgentClaim); begun {
		name, ok := agent.(string)
		if !ok || name == "" { // an agent must not pass for a person
			return nil, fault.New(fault.Unauthenticated, "the token's claim %s does not name the agent", i.cfg.AgentClaim).
				WithFix("Have the operators name another agentClaim under auth.oidc.")
		}
		p.Agent = name
	}
	groups, _ := c.at(i.cfg.GroupsClaim)
	for _, g := range texts(groups) {
		p.Groups = append(p.Groups, i.group(g))
	}
	p.Job = i.job(c)
	return p, nil
}

// job is the job of CI that claims are of, by what GitHub Actions and GitLab CI
// write into the tokens of theirs: the job, or where that is not said the run.
func (i *issuer) job(c claims) access.Job {
	if i.cfg.Jobs == "" {
		return access.Job{}
	}
	for _, of := range [...]struct{ kind, repository, id string }{{"job", "repository", "check_run_id"}, {"run", "repository", "run_id"}, {"job", "project_path", "job_id"}} {
		repository, _ := c[of.repository].(string)
		if j := (access.Job{Forge: i.cfg.Jobs, Repository: repository, Kind: of.kind, ID: number(c[of.id])}); j.Valid() {
			return j
		}
	}
	return access.Job{}
}

// number is a number that is written as one or as a text.
func number(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// subject is the person that claims are about.
func (i *issuer) subject(c claims) (string, error) {
	v, _ := c.at(i.cfg.SubjectClaim)
	name, _ := v.(string)
	if name == "" {
		return "", fault.New(fault.Unauthenticated, "the token's claim %s does not name a person", i.cfg.SubjectClaim).
			WithFix("Have the issuer write it, or the operators name another subjectClaim under auth.oidc.")
	}
	if verified, said := c["email_verified"]; i.cfg.SubjectClaim == "email" && said && verified != true && verified != "true" {
		return "", fault.New(fault.Unauthenticated, "the token's e-mail address has not been verified by its issuer").WithFix("Verify the address at the issuer.")
	}
	if ref, ok := i.cfg.Subjects[name]; ok {
		return ref, nil
	}
	cut, ok := strings.CutSuffix(name, i.cfg.SubjectSuffix)
	if !ok {
		return "", fault.New(fault.Unauthenticated, "the token's subject %s does not end with %s", quoted(name), quoted(i.cfg.SubjectSuffix)).
			WithFix("Sign in with an account of this organization.")
	}
	return cut, nil
}

// group is the catalog's group for one of the issuer's. Keycloak's paths start
// with a slash.
func (i *issuer) group(name string) string {
	if ref, ok := i.cfg.Groups[name]; ok {
		return ref
	}
	if path, ok := strings.CutPrefix(name, "/"); ok && !strings.Contains(path, "/") {
		return path
	}
	return name
}
