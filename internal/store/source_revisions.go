package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// keptRevisions is how many later writings a revision of a source outlives.
const keptRevisions = 10_000

// SourceRevision is where a replica has read a source.
type SourceRevision struct {
	Source, Revision string
	// N orders them: one written later, by whichever replica, has a larger one.
	N int64
}

// NoteSourceRevisions writes down, by source, the revisions that a replica has
// read.
func (s *Store) NoteSourceRevisions(ctx context.Context, read map[string]string) error {
	return s.down("the revisions of sources", "written", s.counting(ctx, "sources", func(tx *sql.Tx, n int64) error {
		for _, source := range slices.Sorted(maps.Keys(read)) {
			if _, err := tx.ExecContext(ctx, s.query(`INSERT INTO source_revisions (source, revision, n) VALUES (?1, ?2, ?3)
				ON CONFLICT (source) DO UPDATE SET revision = ?2, n = ?3`), source, read[source], n); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, s.query("DELETE FROM source_revisions WHERE n < ?1"), n-keptRevisions)
		return err
	}))
}

// SourceRevisionsAfter are those written after one with a number, the oldest
// first.
func (s *Store) SourceRevisionsAfter(ctx context.Context, n int64) ([]SourceRevision, error) {
	out, err := gather(ctx, s.read, func(scan func(...any) error) (r SourceRevision, err error) {
		err = scan(&r.Source, &r.Revision, &r.N)
		return r, err
	}, s.query("SELECT source, revision, n FROM source_revisions WHERE n > ?1 ORDER BY n, source"), n)
	return out, s.down("the revisions of sources", "read", err)
}

// LastSourceRevision is the number of the one written last, 0 before any is.
func (s *Store) LastSourceRevision(ctx context.Context) (int64, error) {
	n, err := s.counted(ctx, "sources")
	return n, s.down("the revisions of sources", "read", err)
}
