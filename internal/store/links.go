package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var (
	_ gitops.Links      = (*Store)(nil)
	_ gitops.LinkWishes = (*Store)(nil)
)

func (s *Store) linksDown(what string, err error) error {
	return s.down("the linked accounts", what, err)
}

func scanLink(scan func(...any) error) (l gitops.Link, err error) {
	var sealed string
	var expires, linked, changed int64
	if err = scan(&l.Person, &l.Forge, &l.Account, &sealed, &expires, &linked, &changed, &l.Version); err != nil {
		return l, err
	}
	l.Expires, l.LinkedAt, l.ChangedAt = instant(expires), instant(linked), instant(changed)
	l.Sealed, err = base64.StdEncoding.DecodeString(sealed)
	return l, err
}

// Links are those of a person. See gitops.Links.
func (s *Store) Links(ctx context.Context, person string) ([]gitops.Link, error) {
	out, err := gather(ctx, s.read, scanLink, s.query("SELECT person, forge, account, sealed, expires_at, linked_at, changed_at, version FROM forge_links WHERE person = ?1 ORDER BY forge"), person)
	return out, s.linksDown("read", err)
}

// SaveLink keeps one. See gitops.Links.
func (s *Store) SaveLink(ctx context.Context, l gitops.Link) error {
	n, err := s.exec(ctx, `INSERT INTO forge_links (person, forge, account, sealed, expires_at, linked_at, changed_at, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
		ON CONFLICT (person, forge) DO UPDATE SET account = ?3, sealed = ?4, expires_at = ?5, linked_at = ?6, changed_at = ?7, version = ?8
		WHERE forge_links.version = ?9 OR ?8 = 1`, l.Person, l.Forge, l.Account, base64.StdEncoding.EncodeToString(l.Sealed), micros(l.Expires), micros(l.LinkedAt), micros(l.ChangedAt), l.Version, l.Version-1)
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "the linked account was changed at this moment").WithFix("Try again.")
	}
	return s.linksDown("written", err)
}

// DropLink forgets one. See gitops.Links.
func (s *Store) DropLink(ctx context.Context, person, forge string) error {
	n, err := s.exec(ctx, "DELETE FROM forge_links WHERE person = ?1 AND forge = ?2", person, forge)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such link").WithFix("List those that there are.")
	}
	return s.linksDown("written", err)
}

func scanLinkWish(scan func(...any) error) (w gitops.LinkWish, err error) {
	var sealed string
	var expires int64
	if err = scan(&w.ID, &w.Person, &w.Forge, &w.Account, &w.Stage, &w.Secret, &sealed, &expires); err != nil {
		return w, err
	}
	w.ExpiresAt = instant(expires)
	w.Sealed, err = base64.StdEncoding.DecodeString(sealed)
	return w, err
}

// AddLinkWish keeps one. See gitops.LinkWishes.
func (s *Store) AddLinkWish(ctx context.Context, w gitops.LinkWish, now time.Time) error {
	return s.linksDown("written", inOne(ctx, s.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.query("DELETE FROM forge_link_wishes WHERE person = ?1 AND forge = ?2 OR expires_at <= ?3"), w.Person, w.Forge, micros(now)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, s.query("INSERT INTO forge_link_wishes (id, person, forge, account, stage, secret, sealed, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
			w.ID, w.Person, w.Forge, w.Account, w.Stage, w.Secret, base64.StdEncoding.EncodeToString(w.Sealed), micros(w.ExpiresAt))
		return err
	}))
}

// LinkWishes are those of a person, or with a secret. See gitops.LinkWishes.
func (s *Store) LinkWishes(ctx context.Context, person, secret string, now time.Time) ([]gitops.LinkWish, error) {
	out, err := gather(ctx, s.read, scanLinkWish, s.query(`SELECT id, person, forge, account, stage, secret, sealed, expires_at FROM forge_link_wishes
		WHERE (person = ?1 AND person <> '' OR secret = ?2 AND secret <> '') AND expires_at > ?3 ORDER BY forge`), person, secret, micros(now))
	return out, s.linksDown("read", err)
}

// MoveLinkWish changes one. See gitops.LinkWishes.
func (s *Store) MoveLinkWish(ctx context.Context, w gitops.LinkWish, from string) error {
	n, err := s.exec(ctx, "UPDATE forge_link_wishes SET account = ?3, stage = ?4, secret = ?5, sealed = ?6 WHERE id = ?1 AND stage = ?2",
		w.ID, from, w.Account, w.Stage, w.Secret, base64.StdEncoding.EncodeToString(w.Sealed))
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "the link is not %s any more", from).WithFix("Begin anew.")
	}
	return s.linksDown("written", err)
}
