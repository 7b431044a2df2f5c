package gitops

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// Token is what opens an account at a forge; it cannot be printed.
type Token = access.Secret

// NewToken wraps a token.
func NewToken(text string) Token { return access.NewSecret(text) }

// Grant is what a person has let Fairlead do at a forge.
type Grant struct {
	// Token acts as the person until Expires, zero for ever; Refresh, where there
	// is one, gets the next.
	Token, Refresh Token
	Expires        time.Time
	// Account is the person's login name there.
	Account string
}

// Authorizer is a forge's way to let a program act for a person: OAuth's
// authorization code with PKCE.
type Authorizer interface {
	// Ask is the page at which the person agrees, and which leads to callback
	// then.
	Ask(state, verifier, callback string) string
	// Take gives what the code stands for that the callback was given.
	Take(ctx context.Context, code, verifier, callback string) (*Grant, error)
	// Renew gives the next token; failed_precondition where the person, or the
	// forge, has taken it back.
	Renew(ctx context.Context, refresh Token) (*Grant, error)
	// Revoke has the forge forget it; ErrNoRevoking where it cannot.
	Revoke(ctx context.Context, g Grant) error
}

// ErrNoRevoking says that a forge lets a person alone take back what they have
// granted.
var ErrNoRevoking = errors.New("the forge lets people alone revoke it")

// Link is an account that a person has linked, as it is kept.
type Link struct {
	Person, Forge, Account string
	// Sealed is the Grant, which only the key file opens.
	Sealed []byte
	// Expires is when the token ends, zero for never; LinkedAt when the person
	// linked it, ChangedAt when the token was last renewed.
	Expires, LinkedAt, ChangedAt time.Time
	// Version counts what was written of it.
	Version int64
}

// The stages of a wish to link.
const (
	// LinkAsked waits for the person to agree at the forge.
	LinkAsked = "asked"
	// LinkTaken has been called back.
	LinkTaken = "taken"
	// LinkAgreed waits for the person to confirm who they are here.
	LinkAgreed = "agreed"
	// LinkConfirmed waits for the command line to finish it.
	LinkConfirmed = "confirmed"
	// LinkDone and LinkRefused are over.
	LinkDone    = "done"
	LinkRefused = "refused"
)

// LinkWish is a link in the making, as it is kept.
type LinkWish struct {
	ID, Person, Forge, Account, Stage string
	// Secret is the hash of what the next step has to know: the state of the
	// callback, then what the page to confirm holds.
	Secret string
	// Sealed is the verifier, then the Grant.
	Sealed    []byte
	ExpiresAt time.Time
}

// Links is where linked accounts are kept.
type Links interface {
	// Links are those of a person.
	Links(ctx context.Context, person string) ([]Link, error)
	// SaveLink keeps one in the place of the version before it, whatever there is
	// for version 1; conflict where that is another.
	SaveLink(ctx context.Context, l Link) error
	// DropLink forgets one; not_found where there is none.
	DropLink(ctx context.Context, person, forge string) error
}

// LinkWishes is where links in the making are kept, until they expire.
type LinkWishes interface {
	// AddLinkWish keeps one in the place of others for the same person and forge.
	AddLinkWish(ctx context.Context, w LinkWish, now time.Time) error
	// LinkWishes are those of a person, or the one with a secret, that have not
	// expired; an empty one of the two selects nothing.
	LinkWishes(ctx context.Context, person, secret string, now time.Time) ([]LinkWish, error)
	// MoveLinkWish changes one that is in a stage; conflict where it is in
	// another.
	MoveLinkWish(ctx context.Context, w LinkWish, from string) error
}

// Sealer keeps secrets at rest, each for a purpose.
type Sealer interface {
	Seal(plain []byte, purpose string) []byte
	Open(sealed []byte, purpose string) ([]byte, error)
}

// LinkConfig is what a LinkService is made of. Guard, Links and Wishes are
// needed.
type LinkConfig struct {
	Guard  *access.Guard
	Links  Links
	Wishes LinkWishes
	// Sealer is nil where there is no key file: then nothing can be linked.
	Sealer Sealer
	// Forges are those there are, Authorizers those that persons can link their
	// accounts at, by name.
	Forges      []string
	Authorizers map[string]Authorizer
	// As makes a forge that acts as the person whose the token is.
	As func(forge, person string, t Token) (Forge, error)
	// Callback is the address that forges lead back to.
	Callback func() string
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// LinkService links accounts at forges to persons; nil, where there is no forge,
// refuses what changes something.
type LinkService struct {
	cfg   LinkConfig
	renew singleflight.Group
}

// linkFor is how long a person may take to link an account.
const linkFor = 10 * time.Minute

// NewLinks makes a LinkService.
func NewLinks(cfg LinkConfig) (*LinkService, error) {
	if cfg.Guard == nil || cfg.Links == nil || cfg.Wishes == nil || cfg.As == nil || cfg.Callback == nil {
		return nil, errors.New("gitops: Guard, Links, Wishes, As and Callback are needed")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &LinkService{cfg: cfg}, nil
}

// StartForgeLinkInput names a forge.
type StartForgeLinkInput struct {
	Forge string `json:"forge" jsonschema:"name of the configured forge"`
}

// StartedForgeLink is a link that a person can make now.
type StartedForgeLink struct {
	ID        string    `json:"id" jsonschema:"to finish it with"`
	Forge     string    `json:"forge"`
	Person    string    `json:"person" jsonschema:"whose account it will be"`
	URL       string    `json:"url" jsonschema:"page to open in a browser, once"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// StartForgeLink begins to link the caller's account at a forge: they agree at
// its page, confirm here who they are, and finish it. Only a person may, not an
// agent. Faults: forbidden, not_found (forge), failed_precondition (it cannot be
// linked at).
func (s *LinkService) StartForgeLink(ctx context.Context, who access.Caller, in StartForgeLinkInput) (*StartedForgeLink, error) {
	auth, err := s.linkable(who, in.Forge)
	if err != nil {
		return nil, err
	}
	return access.Do(ctx, s.cfg.Guard, who, linkOp("start_forge_link", in.Forge, in), func(ctx context.Context) (*StartedForgeLink, error) {
		state, verifier := rand.Text()+rand.Text(), rand.Text()+rand.Text()
		now := s.cfg.Now().UTC().Truncate(time.Second)
		w := LinkWish{ID: record.NewID("link-"+in.Forge, 40), Person: who.Subject(), Forge: in.Forge, Stage: LinkAsked, Secret: hashed(state), ExpiresAt: now.Add(linkFor)}
		w.Sealed = s.cfg.Sealer.Seal([]byte(verifier), w.purpose())
		if err := s.cfg.Wishes.AddLinkWish(ctx, w, now); err != nil {
			return nil, err
		}
		return &StartedForgeLink{ID: w.ID, Forge: w.Forge, Person: w.Person, URL: auth.Ask(state, verifier, s.cfg.Callback()), ExpiresAt: w.ExpiresAt}, nil
	})
}

// linkOp is an act on the caller's own account.
func linkOp(operation, forge string, in any) access.Op {
	return access.Op{Action: access.LinkForge, Operation: operation, Target: "forge:" + line(forge, 80), Input: in}
}

// linkable finds how accounts at a forge are linked.
func (s *LinkService) linkable(who access.Caller, forge string) (Authorizer, error) {
	if err := s.mine(who); err != nil {
		return nil, err
	}
	if !slices.Contains(s.cfg.Forges, forge) {
		return nil, fault.New(fault.NotFound, "no forge is called %.80q here", forge).WithFix("There is %s.", strings.Join(s.cfg.Forges, ", "))
	}
	switch auth := s.cfg.Authorizers[forge]; {
	case auth == nil:
		return nil, fault.New(fault.FailedPrecondition, "accounts at %s cannot be linked: Fairlead is no OAuth application there", forge).
			WithFix("Have the operators make one there and add oauth: {clientID: …, clientSecretFile: …} to the forge; can be linked at: %s.", strings.Join(slices.Sorted(maps.Keys(s.cfg.Authorizers)), ", "))
	case s.cfg.Sealer == nil:
		return nil, fault.New(fault.FailedPrecondition, "accounts cannot be linked: there is no key to keep them under").
			WithFix("Have the operators add proposals: {tokenKeyFile: …} to the configuration, a file of 32 random bytes.")
	default:
		return auth, nil
	}
}

// mine refuses those who have no account of their own.
func (s *LinkService) mine(who access.Caller) error {
	switch {
	case s == nil:
		return fault.New(fault.FailedPrecondition, "this server knows of no forge").WithFix("Have the operators add the section forges to the configuration.")
	case who.Agent() != "":
		return fault.New(fault.Forbidden, "an agent cannot link or unlink an account of %s", who.Subject()).
			WithFix("Have the person do it themselves: fairlead login --forge NAME.")
	}
	return nil
}

func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// purpose is what is sealed of a wish, and purposeOf of a link.
func (w *LinkWish) purpose() string {
	return "link wish\x00" + w.ID + "\x00" + w.Person + "\x00" + w.Forge
}

func purposeOf(person, forge string) string { return "link\x00" + person + "\x00" + forge }
