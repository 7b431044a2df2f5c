// Package fts keeps documents in an SQLite database and finds them with its
// full-text index, FTS5. The database is a cache: what it holds can always be
// read again from the sources.
package fts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

var (
	_ knowledge.Index  = (*Index)(nil)
	_ knowledge.Keeper = (*Index)(nil)
)

// schemaVersion changes with the tables; a database of another version is
// emptied.
const schemaVersion = 1

// maxWords is how much of a document's text is searchable, in bytes.
const maxWords = 256 << 10

const schema = `
CREATE TABLE sources (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cards (id INTEGER PRIMARY KEY, source TEXT NOT NULL, card TEXT NOT NULL);
CREATE INDEX cards_of ON cards (source);
CREATE TABLE texts (id INTEGER PRIMARY KEY, sections TEXT NOT NULL, body TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (title, names, headings, body, content = '', contentless_delete = 1,
	` + tokenizer + `);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'row');`

// Index is documents in a database. It is safe for concurrent use.
type Index struct {
	read, write *sql.DB
	terms       terms
	memory      memory
	pads        sync.Pool     // of *pad
	stirred     chan struct{} // has something after changes
	// saved is above all ids that common words are saved of.
	saved atomic.Uint32
}

// New makes an Index of an SQLite database with one connection that writes and
// several that read beside it, and of another one in memory. Its tables are
// made if they are not there.
func New(ctx context.Context, read, write, scratch *sql.DB) (*Index, error) {
	x := &Index{read: read, write: write, terms: terms{db: scratch}, pads: sync.Pool{New: func() any { return &pad{} }}, stirred: make(chan struct{}, 1)}
	var version int
	if err := write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, fmt.Errorf("opening the index of documents: %w", err)
	}
	if version != schemaVersion {
		if err := x.empty(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := write.ExecContext(ctx, savedSchema); err != nil {
		return nil, fmt.Errorf("opening the index of documents: %w", err)
	}
	live, err := ids(ctx, read, "SELECT coalesce(group_concat(id), '') FROM cards")
	if err != nil {
		return nil, fmt.Errorf("opening the index of documents: %w", err)
	}
	x.memory.now.live = roaring.New()
	x.memory.changed(roaring.New(), live)
	return x, x.restore(ctx)
}

// empty makes the tables anew.
func (x *Index) empty(ctx context.Context) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"vocabulary", "words", "texts", "cards", "sources", "common"} {
			if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("\nPRAGMA user_version = %d", schemaVersion))
		return err
	})
}

// change makes a change, all of it or nothing.
func (x *Index) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("changing the index of documents: %w", err)
	}
	if err := do(tx); err != nil {
		return errors.Join(fmt.Errorf("changing the index of documents: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("changing the index of documents: %w", err)
	}
	return nil
}

// Each calls f with every source and its cards.
func (x *Index) Each(ctx context.Context, f func(source string, s knowledge.State, cards []*knowledge.Card)) (err error) {
	cards, err := x.cards(ctx)
	if err != nil {
		return err
	}
	rows, err := x.read.QueryContext(ctx, "SELECT name, state FROM sources ORDER BY name")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name, text string
		var s knowledge.State
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			s = knowledge.State{} // of another program: its cards are to be replaced
		}
		f(name, s, cards[name])
	}
	return rows.Err()
}

func (x *Index) cards(ctx context.Context) (out map[string][]*knowledge.Card, err error) {
	rows, err := x.read.QueryContext(ctx, "SELECT id, source, card FROM cards")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = map[string][]*knowledge.Card{}
	for rows.Next() {
		c := &knowledge.Card{}
		var text string
		if err := rows.Scan(&c.ID, &c.Source, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), c); err != nil {
			return nil, fmt.Errorf("reading a card of source %s: %w", c.Source, err)
		}
		out[c.Source] = append(out[c.Source], c)
	}
	return out, rows.Err()
}

// Replace changes a source.
func (x *Index) Replace(ctx context.Context, source string, b knowledge.Batch) error {
	state, err := json.Marshal(b.State)
	if err != nil {
		return err
	}
	came, gone := roaring.New(), roaring.New()
	for _, id := range b.Gone {
		gone.Add(uint32(id)) //nolint:gosec // what else is read of ids is refused beyond that
	}
	err = x.change(ctx, func(tx *sql.Tx) error {
		if err := remove(ctx, tx, b.Gone); err != nil {
			return err
		}
		add, err := newAdder(ctx, tx)
		if err != nil {
			return err
		}
		defer add.close()
		for e, err := range b.Entries {
			if err != nil {
				return err
			}
			if err := add.entry(ctx, source, e); err != nil {
				return err
			}
			if err := x.reused(ctx, tx, uint32(e.ID)); err != nil { //nolint:gosec // as above
				return err
			}
			came.Add(uint32(e.ID)) //nolint:gosec // as above
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO sources (name, state) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET state = ?2", source, string(state))
		return err
	})
	if err == nil {
		x.changed(gone, came)
	}
	return err
}

// changed notes which documents went and came.
func (x *Index) changed(gone, came *roaring.Bitmap) {
	if gone.IsEmpty() && came.IsEmpty() {
		return
	}
	x.memory.changed(gone, came)
	select {
	case x.stirred <- struct{}{}:
	default:
	}
}

// Drop removes a source.
func (x *Index) Drop(ctx context.Context, source string) error {
	var gone *roaring.Bitmap
	err := x.change(ctx, func(tx *sql.Tx) (err error) {
		if gone, err = ids(ctx, tx, "SELECT coalesce(group_concat(id), '') FROM cards WHERE source = ?1", source); err != nil {
			return err
		}
		for _, text := range []string{
			"DELETE FROM words WHERE rowid IN (SELECT id FROM cards WHERE source = ?1)",
			"DELETE FROM texts WHERE id IN (SELECT id FROM cards WHERE source = ?1)",
			"DELETE FROM cards WHERE source = ?1",
			"DELETE FROM sources WHERE name = ?1",
		} {
			if _, err := tx.ExecContext(ctx, text, source); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		x.changed(gone, roaring.New())
	}
	return err
}

func remove(ctx context.Context, tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		for _, text := range []string{"DELETE FROM words WHERE rowid = ?1", "DELETE FROM texts WHERE id = ?1", "DELETE FROM cards WHERE id = ?1"} {
			if _, err := tx.ExecContext(ctx, text, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// adder adds documents within one transaction.
type adder struct{ card, text, words *sql.Stmt }

func newAdder(ctx context.Context, tx *sql.Tx) (a adder, err error) {
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&a.card, "INSERT INTO cards (id, source, card) VALUES (?1, ?2, ?3)"},
		{&a.text, "INSERT INTO texts (id, sections, body) VALUES (?1, ?2, ?3)"},
		{&a.words, "INSERT INTO words (rowid, title, names, headings, body) VALUES (?1, ?2, ?3, ?4, ?5)"},
	} {
		if *s.to, err = tx.PrepareContext(ctx, s.text); err != nil { //nolint:sqlclosecheck // the adder closes it, and the transaction would
			return a, err
		}
	}
	return a, nil
}

// close gives back what the transaction's end would, too.
func (a adder) close() {
	for _, s := range []*sql.Stmt{a.card, a.text, a.words} {
		_ = s.Close()
	}
}

func (a adder) entry(ctx context.Context, source string, e *knowledge.Entry) error {
	card, err := json.Marshal(e.Card)
	if err != nil {
		return err
	}
	sections, err := json.Marshal(e.Sections)
	if err != nil {
		return err
	}
	if _, err := a.card.ExecContext(ctx, e.ID, source, string(card)); err != nil {
		return err
	}
	if _, err := a.text.ExecContext(ctx, e.ID, string(sections), e.Text); err != nil {
		return err
	}
	_, err = a.words.ExecContext(ctx, e.ID, e.Title, names(e), headings(e.Sections), clip(e.Text, maxWords))
	return err
}

// names are further words by which a document is known: the parts of its path
// and of names written together, what it is about, and what it answers.
func names(e *knowledge.Entry) string {
	parts := append([]string{e.Source, e.Path, Apart(e.Title + " " + e.Path), e.Question, e.Description, string(e.Kind)}, e.AppliesTo...)
	return strings.Join(parts, " ")
}

func headings(sections []document.Section) string {
	var b strings.Builder
	for _, s := range sections {
		if b.Len() > maxWords/8 {
			break
		}
		b.WriteString(s.Heading + "\n")
	}
	return b.String()
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// Text gives the sections and the text of a document; nil where there is none.
func (x *Index) Text(ctx context.Context, id int64) (*knowledge.Entry, error) {
	e := &knowledge.Entry{}
	var sections string
	err := x.read.QueryRowContext(ctx, "SELECT sections, body FROM texts WHERE id = ?1", id).Scan(&sections, &e.Text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading document %d: %w", id, err)
	}
	return e, json.Unmarshal([]byte(sections), &e.Sections)
}
