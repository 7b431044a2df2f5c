package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/vault/api"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Vault lends what one Vault issues. It is the room's Issuer and Custodian.
type Vault struct {
	config       Config
	installation string
	log          *slog.Logger
	client       *api.Client
	session      *session
	roles        *roles
	wrappings    *wrappings
	leases       *leases
	prepared     sync.Map // names of the policies that were written here
}

// New makes a Vault of a configuration that is valid, for an installation of
// Fairlead: a name that it keeps and no other has, since accounts of its name
// that it does not know are taken back. It asks Vault for nothing yet. It takes
// the variables VAULT_… out of the environment of this process.
func New(c Config, installation string, log *slog.Logger) (*Vault, error) {
	if problems := c.Validate(); len(problems) > 0 {
		return nil, fmt.Errorf("vault.%s: %s", problems[0].Field, problems[0].Message)
	}
	if installation == "" || log == nil {
		return nil, errors.New("vault: an installation's name and a log are needed")
	}
	c = c.withDefaults()
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Vault{config: c, installation: installation, log: log, client: client, session: newSession(), roles: newRoles(), wrappings: newWrappings(), leases: newLeases()}, nil
}

// Open makes the account of an order.
func (v *Vault) Open(ctx context.Context, o secrets.Order) (secrets.Account, error) {
	d, err := drawingOf(o.Offer, o.TTL)
	if err != nil {
		return secrets.Account{}, err
	}
	policies, err := v.policies(o)
	if err != nil {
		return secrets.Account{}, err
	}
	longest, err := v.longest(ctx, o.Offer, d)
	if err != nil {
		return secrets.Account{}, err
	}
	parent, exchanged, err := v.parent(ctx, o)
	if err != nil {
		return secrets.Account{}, err
	}
	if !exchanged {
		policies = v.chosen(d, policies)
	}
	t := terms{drawing: d, policies: policies, ttl: min(o.TTL, longest, parent.left(time.Now())), limit: min(max(o.MaxTTL, o.TTL), longest)}
	account, err := v.open(ctx, o, parent, exchanged, t)
	if errors.Is(err, errUnprepared) && !exchanged && v.prepare(ctx, d) {
		t.policies = []string{policyOf(d)}
		account, err = v.open(ctx, o, parent, exchanged, t)
	}
	if err != nil && exchanged {
		v.drop(ctx, parent.accessor)
	}
	return account, err
}

// terms are what an account is made by.
type terms struct {
	drawing    drawing
	policies   []string
	ttl, limit time.Duration
}

// fixed tells that an account's end is that of its credential, which no renewal
// moves.
func (t terms) fixed() bool { return t.drawing.lasts > 0 }

func (v *Vault) open(ctx context.Context, o secrets.Order, parent pass, exchanged bool, t terms) (secrets.Account, error) {
	role := v.config.TokenRole
	if exchanged {
		role = v.config.Callers.TokenRole
	}
	if t.fixed() {
		t.limit = t.ttl
	}
	if t.ttl < time.Second {
		return secrets.Account{}, fault.New(fault.FailedPrecondition, "credential %q: there is no time left to lend it for", o.Offer.Name).WithFix("Ask for a longer time to live, or again once Fairlead has logged in to Vault anew.")
	}
	at := time.Now()
	limit, drawn := max(t.limit, t.ttl), drawnAt(t.drawing, at)
	m := map[string]string{metaDrawn: drawn}
	if exchanged {
		m[metaParent] = parent.accessor
	}
	c := call{method: http.MethodPut, path: "auth/token/create/" + role, token: parent.token, body: map[string]any{
		"policies": t.policies, "no_default_policy": true, "meta": v.meta(o, m, at.Add(limit)), "display_name": "fairlead",
		// Vault forgets the limit of a token that a role makes when that is
		// renewed, so it is in the metadata, too.
		"ttl": seconds(t.ttl), "explicit_max_ttl": seconds(limit), "renewable": !t.fixed(),
	}}
	secret, err := v.make(ctx, c, exchanged)
	if err != nil {
		return secrets.Account{}, v.unmade(c, t.policies, exchanged, err)
	}
	auth := secret.Auth
	if err := v.fit(secret, role, exchanged, t.policies); err != nil {
		v.drop(ctx, auth.Accessor)
		return secrets.Account{}, err
	}
	h := handle{accessor: auth.Accessor, parent: m[metaParent], drawn: drawn}
	ends := at.Add(time.Duration(auth.LeaseDuration) * time.Second)
	return secrets.Account{Handle: h.String(), Key: value.New([]byte(auth.ClientToken)), ExpiresAt: ends}, nil
}

// make makes a token: by the pass that it names or, as Fairlead, by one that
// still holds.
func (v *Vault) make(ctx context.Context, c call, exchanged bool) (*api.Secret, error) {
	do := v.own
	if exchanged {
		do = v.do
	}
	secret, err := do(ctx, c)
	if err == nil && (secret == nil || secret.Auth == nil) {
		err = errAnswer
	}
	return secret, err
}

// unmade is the fault of a token that was not made.
func (v *Vault) unmade(c call, policies []string, exchanged bool, err error) error {
	switch {
	case says(err, "batch tokens"):
		return unfit(name(c.path), exchanged).Because(cause(c, err))
	case says(err, "unknown role"):
		return fault.New(fault.FailedPrecondition, "Vault has no token role %q", name(c.path)).
			WithFix("Make it: vault write auth/token/roles/%s orphan=%v allowed_policies_glob=%q", name(c.path), !exchanged, "fairlead/*").Because(fmt.Errorf("%w: %w", errUnprepared, cause(c, err)))
	case says(err, "must be subset of the role's allowed policies"):
		return fault.New(fault.FailedPrecondition, "the token role %q does not allow the policies %s", name(c.path), strings.Join(policies, ", ")).
			WithFix("Allow them by its allowed_policies or allowed_policies_glob.").Because(cause(c, err))
	}
	return v.explain(c, err)
}

// name is the last of a path.
func name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// fit tells by its error why an account is not what it has to be.
func (v *Vault) fit(secret *api.Secret, role string, exchanged bool, policies []string) error {
	for _, w := range secret.Warnings {
		for _, p := range policies {
			if strings.Contains(w, `"`+p+`"`) && strings.Contains(w, "does not exist") {
				return fault.New(fault.FailedPrecondition, "Vault has no policy %q", p).
					WithFix(`Write it, with what the service may borrow: vault policy write %s - <<< 'path "MOUNT/creds/ROLE" { capabilities = ["read"] }'`, p).Because(errUnprepared)
			}
		}
	}
	if secret.Auth.Accessor == "" || secret.Auth.Orphan == exchanged {
		return unfit(role, exchanged)
	}
	return nil
}

// unfit is the fault of a token role whose tokens cannot be taken back one by
// one, or go with the wrong ones.
func unfit(role string, exchanged bool) *fault.Error {
	return fault.New(fault.FailedPrecondition, "the token role %q makes tokens that are no use as accounts", role).
		WithFix("Have it make service tokens: vault write auth/token/roles/%s token_type=service orphan=%v", role, !exchanged)
}

// Keys of an account's metadata.
const (
	metaInstallation = "fairlead"
	metaLease        = "lease"
	metaParent       = "parent"
	metaUntil        = "until"
	metaDrawn        = "drawn"
)

// meta tells Vault's audit for whom and what, beside what is in it already.
func (v *Vault) meta(o secrets.Order, m map[string]string, until time.Time) map[string]string {
	for key, text := range map[string]string{metaInstallation: v.installation, metaLease: o.Lease, "credential": o.Offer.Name, metaUntil: until.UTC().Format(time.RFC3339),
		"person": o.Person, "agent": o.Agent, "service": o.Service, "environment": o.Environment, "task": o.Task} {
		m[key] = cut(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(text, "")))
	}
	maps.DeleteFunc(m, func(_, text string) bool { return text == "" })
	return m
}

// cut bounds what the metadata says.
func cut(text string) string {
	const most = 512
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// policies are those of an order's account.
func (v *Vault) policies(o secrets.Order) ([]string, error) {
	ref, err := entity.ParseRef(o.Service, "component", "default")
	if err != nil {
		return nil, fault.New(fault.Invalid, "%q is no service", clip(o.Service)).Because(err)
	}
	ref = ref.Canonical()
	values := map[string]string{"namespace": ref.Namespace, "service": ref.Name, "environment": o.Environment,
		"engine": o.Offer.Engine, "mount": o.Offer.Mount, "role": o.Offer.Role, "name": o.Offer.Name}
	var out []string
	for _, p := range v.config.Policies {
		var wrong string
		out = append(out, strings.ToLower(braces.ReplaceAllStringFunc(p, func(key string) string {
			key = key[1 : len(key)-1]
			if text := values[key]; plainName.MatchString(text) || key == "mount" {
				return text // the mount has been checked
			}
			wrong = key
			return ""
		})))
		if wrong != "" {
			return nil, fault.New(fault.Invalid, "%q cannot be the %s of the policy %s", clip(values[wrong]), wrong, p).
				WithFix("Use letters, digits, dots, hyphens and underscores, or leave {%s} out of vault.policies.", wrong)
		}
	}
	return out, nil
}

// parent is whom an account is made by: the caller, where that is configured
// and they have shown a token, or Fairlead.
func (v *Vault) parent(ctx context.Context, o secrets.Order) (p pass, exchanged bool, err error) {
	if v.config.Callers == nil || o.Proof.IsZero() {
		p, err = v.enter(ctx, o.TTL)
		return p, false, err
	}
	c := loginAt(v.config.Callers.Mount, map[string]any{"role": v.config.Callers.Role, "jwt": o.Proof.Reveal()})
	at := time.Now()
	secret, err := v.do(ctx, c)
	if status := statusOf(err); status == http.StatusBadRequest || status == http.StatusForbidden {
		return pass{}, false, fault.New(fault.Forbidden, "Vault does not accept the token that %s has shown", o.Person).
			WithFix("Sign in anew. If that does not help, have the role %q at auth/%s take the tokens that Fairlead takes.", v.config.Callers.Role, v.config.Callers.Mount).Because(cause(c, err))
	}
	if err == nil && (secret == nil || secret.Auth == nil || secret.Auth.Accessor == "") {
		err = errAnswer
	}
	if err != nil {
		return pass{}, false, v.explain(c, err)
	}
	return passOf(secret.Auth, at), true, nil
}

// drop ends a token that nothing came of; if that fails it ends by itself.
func (v *Vault) drop(ctx context.Context, accessor string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.config.Timeout)
	defer cancel()
	if err := v.end(ctx, accessor); err != nil {
		v.log.WarnContext(ctx, "a token of Vault's that is not used was not revoked", "error", err)
	}
}
