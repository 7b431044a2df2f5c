package gitops

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// AgreedLink is what a person has agreed to at a forge, to be confirmed.
type AgreedLink struct {
	// Person is whose account it becomes here, Account whose it is at the Forge.
	Person, Forge, Account string
	// Confirm is what confirming it takes.
	Confirm string
}

// expired is the fault of a link in the making that there is none of any more.
func expired() error {
	return fault.New(fault.NotFound, "there is nothing to link: it has been done, has expired, or was begun anew").WithFix("Begin anew: fairlead login --forge NAME.")
}

// Agree takes what a forge's callback was given: the code that a person has
// agreed with, or the forge's word for why they did not. A state counts once.
// What it gives is shown to whoever holds the browser, so that nobody links
// their account to somebody else's name unseen. Faults: not_found (no such
// state), failed_precondition (not agreed, or the forge does not take the code).
func (s *LinkService) Agree(ctx context.Context, state, code, refused string) (*AgreedLink, error) {
	w, err := s.wish(ctx, state, LinkAsked)
	if err != nil {
		return nil, err
	}
	verifier, err := s.cfg.Sealer.Open(w.Sealed, w.purpose())
	if err != nil {
		return nil, err
	}
	w.Stage, w.Sealed, w.Secret = LinkTaken, nil, ""
	if code == "" {
		w.Stage = LinkRefused
	}
	if err := s.cfg.Wishes.MoveLinkWish(ctx, *w, LinkAsked); err != nil { // somebody else has it
		return nil, expired()
	}
	if code == "" {
		return nil, fault.New(fault.FailedPrecondition, "%s says that it was not agreed to: %s", w.Forge, line(refused, 80)).WithFix("Begin anew, and agree.")
	}
	g, err := s.cfg.Authorizers[w.Forge].Take(ctx, code, string(verifier), s.cfg.Callback())
	if err != nil {
		w.Stage = LinkRefused
		return nil, errors.Join(err, s.cfg.Wishes.MoveLinkWish(context.WithoutCancel(ctx), *w, LinkTaken))
	}
	confirm := rand.Text() + rand.Text()
	w.Stage, w.Account, w.Secret = LinkAgreed, g.Account, hashed(confirm)
	if w.Sealed, err = s.sealed(g, w.purpose()); err != nil {
		return nil, err
	}
	if err := s.cfg.Wishes.MoveLinkWish(ctx, *w, LinkTaken); err != nil {
		return nil, err
	}
	return &AgreedLink{Person: w.Person, Forge: w.Forge, Account: w.Account, Confirm: confirm}, nil
}

// Confirm is given by the one who has agreed, having seen whose it becomes.
func (s *LinkService) Confirm(ctx context.Context, confirm string) (*AgreedLink, error) {
	w, err := s.wish(ctx, confirm, LinkAgreed)
	if err != nil {
		return nil, err
	}
	w.Stage, w.Secret = LinkConfirmed, ""
	if err := s.cfg.Wishes.MoveLinkWish(ctx, *w, LinkAgreed); err != nil {
		return nil, expired()
	}
	return &AgreedLink{Person: w.Person, Forge: w.Forge, Account: w.Account}, nil
}

// wish finds the one with a secret that is in a stage.
func (s *LinkService) wish(ctx context.Context, secret, stage string) (*LinkWish, error) {
	if s == nil || s.cfg.Sealer == nil || len(secret) < 32 || len(secret) > 100 {
		return nil, expired()
	}
	found, err := s.cfg.Wishes.LinkWishes(ctx, "", hashed(secret), s.cfg.Now())
	if err != nil {
		return nil, err
	}
	if len(found) != 1 || found[0].Stage != stage || s.cfg.Authorizers[found[0].Forge] == nil {
		return nil, expired()
	}
	return &found[0], nil
}

// FinishForgeLinkInput names a link that was begun.
type FinishForgeLinkInput struct {
	ID string `json:"id" jsonschema:"id of the link that was begun"`
}

// FinishForgeLink keeps the account that the caller has agreed and confirmed to
// link. Faults: forbidden, not_found (it has expired or is another's),
// failed_precondition (it is not agreed and confirmed yet).
func (s *LinkService) FinishForgeLink(ctx context.Context, who access.Caller, in FinishForgeLinkInput) (*ForgeLink, error) {
	if err := s.mine(who); err != nil {
		return nil, err
	}
	now := s.cfg.Now().UTC().Truncate(time.Second)
	found, err := s.cfg.Wishes.LinkWishes(ctx, who.Subject(), "", now)
	if err != nil {
		return nil, err
	}
	var w *LinkWish
	for i := range found {
		if found[i].ID == in.ID {
			w = &found[i]
		}
	}
	switch {
	case w == nil || w.Stage == LinkDone:
		return nil, expired()
	case w.Stage == LinkRefused:
		return nil, fault.New(fault.FailedPrecondition, "it was not agreed to at %s", w.Forge).WithFix("Begin anew: fairlead login --forge %s.", w.Forge)
	case w.Stage != LinkConfirmed:
		return nil, fault.New(fault.FailedPrecondition, "it has not been agreed to at %s and confirmed here yet", w.Forge).WithFix("Open the page, agree, and confirm.").After(time.Second)
	}
	return access.Do(ctx, s.cfg.Guard, who, linkOp("finish_forge_link", w.Forge, in), func(ctx context.Context) (*ForgeLink, error) {
		g, err := s.opened(w.Sealed, w.purpose(), w.Forge)
		if err != nil {
			return nil, err
		}
		l := Link{Person: w.Person, Forge: w.Forge, Account: w.Account, Expires: g.Expires, LinkedAt: now, ChangedAt: now, Version: 1}
		if l.Sealed, err = s.sealed(g, purposeOf(l.Person, l.Forge)); err != nil {
			return nil, err
		}
		w.Stage, w.Sealed = LinkDone, nil
		if err := s.cfg.Wishes.MoveLinkWish(ctx, *w, LinkConfirmed); err != nil {
			return nil, expired()
		}
		if err := s.cfg.Links.SaveLink(ctx, l); err != nil {
			return nil, err
		}
		return l.view(), nil
	})
}

// kept is a Grant as it is sealed.
type kept struct {
	Token   string    `json:"t"`
	Refresh string    `json:"r,omitempty"`
	Expires time.Time `json:"e,omitzero"`
	Account string    `json:"a"`
}

func (s *LinkService) sealed(g *Grant, purpose string) ([]byte, error) {
	plain, err := json.Marshal(kept{g.Token.Reveal(), g.Refresh.Reveal(), g.Expires, g.Account})
	if err != nil {
		return nil, errors.New("a grant could not be written") // without what it holds
	}
	return s.cfg.Sealer.Seal(plain, purpose), nil
}

func (s *LinkService) opened(sealed []byte, purpose, forge string) (*Grant, error) {
	plain, err := s.cfg.Sealer.Open(sealed, purpose)
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the account that is linked at %s cannot be opened: the key file is another", forge).
			WithFix("Have the operators put the key back, or link it anew: fairlead login --forge %s.", forge).Because(err)
	}
	var k kept
	if json.Unmarshal(plain, &k) != nil {
		return nil, errors.New("a grant could not be read") // without what it holds
	}
	return &Grant{Token: access.NewSecret(k.Token), Refresh: access.NewSecret(k.Refresh), Expires: k.Expires, Account: k.Account}, nil
}
