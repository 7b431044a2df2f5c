package gitops

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ForgeLink is a forge, and the account there that is the caller's.
type ForgeLink struct {
	Forge string `json:"forge"`
	// Linkable tells that accounts can be linked there.
	Linkable bool   `json:"linkable"`
	Account  string `json:"account,omitempty" jsonschema:"login name there; absent where none is linked"`
	// Since is when it was linked.
	Since time.Time `json:"since,omitzero"`
	// Pending is the stage of a link in the making, by its ID.
	ID      string   `json:"id,omitempty" jsonschema:"of a link in the making"`
	Pending string   `json:"pending,omitempty" jsonschema:"asked, taken, agreed, confirmed or refused"`
	Notes   []string `json:"notes,omitempty"`
}

func (l *Link) view() *ForgeLink {
	return &ForgeLink{Forge: l.Forge, Linkable: true, Account: line(l.Account, 100), Since: l.LinkedAt}
}

// ListForgeLinksInput takes nothing.
type ListForgeLinksInput struct{}

// ForgeLinks are the forges there are, and what of the caller's is linked there.
type ForgeLinks struct {
	Items []ForgeLink `json:"items"`
}

// ListForgeLinks tells at which forges proposals are made as the caller
// themselves, and what is being linked.
func (s *LinkService) ListForgeLinks(ctx context.Context, who access.Caller, _ ListForgeLinksInput) (*ForgeLinks, error) {
	out := &ForgeLinks{Items: []ForgeLink{}}
	if s == nil || who.Subject() == "" { // there is no forge, or nobody who could have an account
		return out, nil
	}
	links, err := s.cfg.Links.Links(ctx, who.Subject())
	if err != nil {
		return nil, err
	}
	wishes, err := s.cfg.Wishes.LinkWishes(ctx, who.Subject(), "", s.cfg.Now())
	if err != nil {
		return nil, err
	}
	for _, forge := range s.cfg.Forges {
		one := &ForgeLink{Forge: forge}
		if i := slices.IndexFunc(links, func(l Link) bool { return l.Forge == forge }); i >= 0 {
			one = links[i].view()
		}
		one.Linkable = s.cfg.Authorizers[forge] != nil && s.cfg.Sealer != nil
		if i := slices.IndexFunc(wishes, func(w LinkWish) bool { return w.Forge == forge && w.Stage != LinkDone }); i >= 0 && who.Agent() == "" {
			one.ID, one.Pending = wishes[i].ID, wishes[i].Stage
		}
		out.Items = append(out.Items, *one)
	}
	return out, nil
}

// UnlinkForgeInput names a forge.
type UnlinkForgeInput struct {
	Forge string `json:"forge" jsonschema:"name of the configured forge"`
}

// UnlinkForge forgets the caller's account at a forge, having had that revoke
// what it granted, where it can. Faults: forbidden, not_found (nothing is
// linked).
func (s *LinkService) UnlinkForge(ctx context.Context, who access.Caller, in UnlinkForgeInput) (*ForgeLink, error) {
	if err := s.mine(who); err != nil {
		return nil, err
	}
	return access.Do(ctx, s.cfg.Guard, who, linkOp("unlink_forge", in.Forge, in), func(ctx context.Context) (*ForgeLink, error) {
		l, err := s.linkOf(ctx, who.Subject(), in.Forge)
		if err != nil {
			return nil, err
		}
		if l == nil {
			return nil, fault.New(fault.NotFound, "no account of %s is linked at %.80q", who.Subject(), in.Forge).WithFix("fairlead login --status lists those that are.")
		}
		out := &ForgeLink{Forge: l.Forge, Linkable: s.cfg.Authorizers[l.Forge] != nil && s.cfg.Sealer != nil}
		if err := s.revoke(ctx, l); err != nil {
			out.Notes = []string{"what " + line(l.Account, 100) + " granted still stands at " + l.Forge + ", which Fairlead cannot change (" + why(err) + "): revoke it there, under the authorized applications of your settings"}
		}
		return out, s.cfg.Links.DropLink(ctx, l.Person, l.Forge)
	})
}

func why(err error) string {
	if errors.Is(err, ErrNoRevoking) {
		return ErrNoRevoking.Error()
	}
	return fault.From(err).Message
}

func (s *LinkService) revoke(ctx context.Context, l *Link) error {
	auth := s.cfg.Authorizers[l.Forge]
	if auth == nil || s.cfg.Sealer == nil {
		return fault.New(fault.FailedPrecondition, "it is not configured any more")
	}
	g, err := s.opened(l.Sealed, purposeOf(l.Person, l.Forge), l.Forge)
	if err != nil {
		return err
	}
	return auth.Revoke(ctx, *g)
}

// linkOf is a person's link at a forge; nil where there is none.
func (s *LinkService) linkOf(ctx context.Context, person, forge string) (*Link, error) {
	all, err := s.cfg.Links.Links(ctx, person)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(l Link) bool { return l.Forge == forge }); i >= 0 {
		return &all[i], nil
	}
	return nil, nil
}

// Account is a person's own at a forge. Its token leaves the room for the
// forge's adapter and Git alone.
type Account struct {
	// Name is the login name there.
	Name string
	// Forge acts as the person.
	Forge Forge
	// Token pushes as the person.
	Token Token
}

// renewBefore is how long before a token ends the next is asked for.
const renewBefore = 5 * time.Minute

// AccountOf is what acts for a person at a forge; nil where they have linked
// none. Faults: failed_precondition (what is linked does not hold any more; it
// says how to link it anew).
func (s *LinkService) AccountOf(ctx context.Context, person, forge string) (*Account, error) {
	if s == nil || person == "" {
		return nil, nil
	}
	l, err := s.linkOf(ctx, person, forge)
	if err != nil || l == nil {
		return nil, err
	}
	if s.cfg.Sealer == nil || s.cfg.Authorizers[forge] == nil {
		return nil, fault.New(fault.FailedPrecondition, "%s has linked an account at %s, and the server can use none any more", person, forge).
			WithFix("Have the operators put back proposals.tokenKeyFile and the forge's oauth, or unlink it: fairlead login --forge %s --unlink.", forge)
	}
	g, err := s.opened(l.Sealed, purposeOf(person, forge), forge)
	if err == nil && !g.Expires.IsZero() && g.Expires.Before(s.cfg.Now().Add(renewBefore)) {
		g, err = s.renewed(ctx, person, forge)
	}
	if err != nil {
		return nil, err
	}
	as, err := s.cfg.As(forge, person, g.Token)
	if err != nil {
		return nil, err
	}
	return &Account{Name: l.Account, Forge: as, Token: g.Token}, nil
}

// renewed gets the next token, once for all who want it at the same time.
func (s *LinkService) renewed(ctx context.Context, person, forge string) (*Grant, error) {
	// A token that was renewed and not kept is lost for good: the caller may go.
	ctx = context.WithoutCancel(ctx)
	got, err, _ := s.renew.Do(person+"\x00"+forge, func() (any, error) {
		l, err := s.linkOf(ctx, person, forge)
		if err != nil || l == nil {
			return nil, errors.Join(err, unlinked(person, forge))
		}
		g, err := s.opened(l.Sealed, purposeOf(person, forge), forge)
		if err != nil || g.Expires.After(s.cfg.Now().Add(renewBefore)) { // another has just done it
			return g, err
		}
		next, err := s.next(ctx, l, g)
		if err == nil {
			return next, nil
		}
		if again := s.overtaken(ctx, l, err); again != nil {
			return s.opened(again.Sealed, purposeOf(person, forge), forge)
		}
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	return got.(*Grant), nil
}

// overtaken is the link as another replica has just renewed it, which took the
// refresh token; nil where none did. It may not have been written down yet.
func (s *LinkService) overtaken(ctx context.Context, l *Link, err error) *Link {
	for range 20 {
		again, readErr := s.linkOf(ctx, l.Person, l.Forge)
		switch code := fault.CodeOf(err); {
		case readErr != nil || again == nil || code != fault.FailedPrecondition && code != fault.Conflict:
			return nil
		case again.Version > l.Version || again.LinkedAt.After(l.LinkedAt):
			return again
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func unlinked(person, forge string) error {
	return fault.New(fault.FailedPrecondition, "what %s granted at %s does not hold any more: it was revoked, or has expired", person, forge).
		WithFix("Link the account anew: fairlead login --forge %s. Or have proposals made by Fairlead's own account again: fairlead login --forge %s --unlink.", forge, forge)
}

// next has a forge give the next token, and keeps it.
func (s *LinkService) next(ctx context.Context, l *Link, g *Grant) (*Grant, error) {
	if g.Refresh.IsZero() {
		return nil, unlinked(l.Person, l.Forge)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	next, err := s.cfg.Authorizers[l.Forge].Renew(ctx, g.Refresh)
	switch {
	case fault.CodeOf(err) == fault.FailedPrecondition:
		return nil, fault.From(unlinked(l.Person, l.Forge)).Because(err)
	case err != nil:
		return nil, err
	}
	next.Account = cmp.Or(strings.TrimSpace(next.Account), g.Account)
	if next.Refresh.IsZero() {
		next.Refresh = g.Refresh
	}
	l.Expires, l.ChangedAt, l.Version = next.Expires, s.cfg.Now().UTC().Truncate(time.Second), l.Version+1
	if l.Sealed, err = s.sealed(next, purposeOf(l.Person, l.Forge)); err != nil {
		return nil, err
	}
	return next, s.cfg.Links.SaveLink(ctx, *l)
}
