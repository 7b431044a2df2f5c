package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// savedSchema is of common words: what is known of each is of all documents
// below the id next.
const savedSchema = `CREATE TABLE IF NOT EXISTS common (term TEXT PRIMARY KEY, next INTEGER NOT NULL, match TEXT NOT NULL,
	body BLOB NOT NULL, headings BLOB NOT NULL, names BLOB NOT NULL) WITHOUT ROWID`

// save keeps what is known of words for the next start.
func (x *Index) save(ctx context.Context, all []*kept) error {
	return x.change(ctx, func(tx *sql.Tx) (err error) {
		if _, err := tx.ExecContext(ctx, "DELETE FROM common"); err != nil {
			return err
		}
		add, err := tx.PrepareContext(ctx, "INSERT INTO common (term, next, match, body, headings, names) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, add.Close()) }()
		for _, k := range all {
			row := []any{k.key, k.as.next, k.match}
			for _, set := range k.postings {
				data, err := set.ToBytes()
				if err != nil {
					return err
				}
				row = append(row, data)
			}
			if _, err := add.ExecContext(ctx, row...); err != nil {
				return err
			}
			x.saved.Store(max(x.saved.Load(), k.as.next))
		}
		return nil
	})
}

// restore brings back what was saved of words. It is brought up to date when
// it is used.
func (x *Index) restore(ctx context.Context) (err error) {
	rows, err := x.read.QueryContext(ctx, "SELECT term, next, match, body, headings, names FROM common")
	if err != nil {
		return fmt.Errorf("reading common words: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		k := &kept{postings: nobody()}
		var data [parts][]byte
		if err := rows.Scan(&k.key, &k.as.next, &k.match, &data[inText], &data[inHeadings], &data[inNames]); err != nil {
			return fmt.Errorf("reading common words: %w", err)
		}
		if k.read(data) != nil {
			continue // it is looked for again
		}
		x.saved.Store(max(x.saved.Load(), k.as.next))
		x.memory.put(k)
	}
	return rows.Err()
}

// read reads what was saved of a word.
func (k *kept) read(data [parts][]byte) error {
	for i, set := range k.postings {
		if err := set.UnmarshalBinary(data[i]); err != nil {
			return err
		}
	}
	return nil
}

// reused notes within a change that an id is given to a document. After a
// start the highest ids may be those of documents that are gone, of which common
// words may be saved.
func (x *Index) reused(ctx context.Context, tx *sql.Tx, id uint32) error {
	if id >= x.saved.Load() {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM common"); err != nil {
		return err
	}
	x.memory.drop(id)
	x.saved.Store(0)
	return nil
}

// drop forgets words that are known of documents with an id or higher ones.
func (m *memory) drop(id uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*kept).as.next > id {
			m.forget(e)
		}
		e = next
	}
}
