package git

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// maxLocalHistory bounds how many commits are looked at where they are on
// disk anyway.
const maxLocalHistory = 200_000

// lastChanges walks the repository's own history; a shallow clone ends early.
func (l *local) lastChanges(ctx context.Context, q ingest.Question) (ingest.Answer, error) {
	t, err := l.open(ctx, q.Revision)
	if err != nil {
		return ingest.Answer{}, err
	}
	defer t.Close()
	a, _, err := lookBack(ctx, t.db, t.commit.id, q, maxLocalHistory)
	if err != nil {
		return a, t.damaged("the history", err)
	}
	return a, nil
}
