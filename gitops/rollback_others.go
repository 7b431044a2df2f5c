package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/record"
)

// maxOthers bounds the proposals that are looked through for those that are
// open.
const maxOthers = 50

// Commenter is what a Forge may be able to do besides.
type Commenter interface {
	// UpsertComment writes the one comment of this account on a pull request that
	// carries a marker.
	UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error
}

// meanwhile finds the open proposals that change the same files. They do not
// stand against going back: what is not merged has harmed nobody yet.
func (b *restoring) meanwhile(ctx context.Context) error {
	files := slices.Concat(b.restored, b.removed)
	for _, state := range []string{Open, Pushed} {
		found, err := b.cfg.Reads.Proposals(ctx, Query{Service: b.ref, State: state, Limit: maxOthers})
		if err != nil {
			return err
		}
		for i := range found {
			o := &found[i]
			if o.Kind != RollbackKind && o.Place.Repository == b.at.Repository && o.Place.Base == b.base && slices.ContainsFunc(o.Paths, func(p string) bool { return slices.Contains(files, p) }) {
				b.rivals = append(b.rivals, *o)
			}
		}
	}
	return nil
}

// tellOthers notes at the proposals that change the same files what has been
// proposed, and comments on their pull requests. That it cannot is told in the
// notes.
func (b *restoring) tellOthers(ctx context.Context, p *Proposal) {
	for i := range b.rivals {
		if err := b.tellOther(ctx, &b.rivals[i], p); err != nil {
			p.Notes = append(p.Notes, "who proposed "+b.rivals[i].ID+" could not be told")
		}
	}
}

func (b *restoring) tellOther(ctx context.Context, o *Record, p *Proposal) error {
	mark := "rollback " + p.ID
	text := fmt.Sprintf("%s takes %s of %s back to %s, and changes the same files: look whether this is still wanted, and have it made anew on the newest base once that is merged", mark, b.env, b.name, short(b.commit))
	if slices.ContainsFunc(o.Notes, func(n string) bool { return strings.HasPrefix(n, mark) }) {
		return nil
	}
	if c, ok := b.cfg.Forges[o.Place.Forge].(Commenter); ok && o.Pull.Number > 0 {
		said := "**" + strings.ToUpper(text[:1]) + text[1:] + ".**"
		if p.URL != "" {
			said += "\n\n" + p.URL
		}
		if err := c.UpsertComment(ctx, o.Place.Name, o.Pull.Number, mark, said); err != nil {
			return err
		}
	}
	now, holder := b.cfg.Now(), record.NewID("tell", 40)
	held, ok, err := b.cfg.Records.ClaimProposal(ctx, o.ID, holder, now, now.Add(10*time.Second))
	if err != nil || !ok {
		return err
	}
	held.Notes = append(held.Notes, text)
	return b.save(ctx, &held, holder, true)
}
