package fts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

var (
	_ knowledge.CodeIndex  = (*Code)(nil)
	_ knowledge.CodeKeeper = (*Code)(nil)
)

// codeVersion changes with the tables; a database of another version is
// emptied.
const codeVersion = 1

// The index knows which files have which three bytes in a row, and not where:
// a fifth of the texts' size. Texts are compressed to about two fifths.
const codeSchema = `
CREATE TABLE sources (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, content TEXT NOT NULL, size INTEGER NOT NULL, language TEXT NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE VIRTUAL TABLE grams USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');`

// Code is code in a database. It is safe for concurrent use.
type Code struct {
	read, write *sql.DB
	text        *sql.Stmt // gives the text of a file

	mu    sync.Mutex // guards grams
	grams code.Grams
}

// NewCode makes a Code of an SQLite database with one connection that writes
// and several that read beside it. Its tables are made if they are not there.
func NewCode(ctx context.Context, read, write *sql.DB) (*Code, error) {
	x := &Code{read: read, write: write}
	var version int
	if err := write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, fmt.Errorf("opening the index of code: %w", err)
	}
	if version != codeVersion {
		if err := x.empty(ctx); err != nil {
			return nil, err
		}
	}
	var err error
	if x.text, err = read.PrepareContext(ctx, "SELECT text FROM texts WHERE id = ?1"); err != nil { // closed with the database
		return nil, fmt.Errorf("opening the index of code: %w", err)
	}
	return x, nil
}

// empty makes the tables anew.
func (x *Code) empty(ctx context.Context) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"grams", "texts", "files", "sources"} {
			if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, codeSchema+fmt.Sprintf("\nPRAGMA user_version = %d", codeVersion))
		return err
	})
}

// change makes a change, all of it or nothing.
func (x *Code) change(ctx context.Context, do func(*sql.Tx) error) error {
	if err := (&Index{write: x.write}).change(ctx, do); err != nil {
		return fmt.Errorf("of code: %w", err)
	}
	return nil
}

// Sources calls f with every source.
func (x *Code) Sources(ctx context.Context, f func(source string, number int64, s knowledge.CodeState)) (err error) {
	rows, err := x.read.QueryContext(ctx, "SELECT number, name, state FROM sources ORDER BY number")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number int64
		var name, text string
		var s knowledge.CodeState
		if err := rows.Scan(&number, &name, &text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			s = knowledge.CodeState{} // of another program: it is to be replaced
		}
		f(name, number, s)
	}
	return rows.Err()
}

// Files are the files of a source.
func (x *Code) Files(ctx context.Context, number int64) (out []knowledge.CodeFile, err error) {
	for tier := code.Program; tier <= code.None; tier++ {
		first, last := knowledge.CodeIDs(tier, number)
		some, err := x.files(ctx, "SELECT id, path, content, size, language FROM files WHERE id BETWEEN ?1 AND ?2", first, last)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (x *Code) files(ctx context.Context, query string, args ...any) (out []knowledge.CodeFile, err error) {
	rows, err := x.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f knowledge.CodeFile
		if err := rows.Scan(&f.ID, &f.Path, &f.Content, &f.Size, &f.Language); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, rows.Err()
}

// ready is a file that only needs to be written.
type ready struct {
	*knowledge.CodeEntry
	words string
	text  []byte
}

// prepare does what needs no database, so that this is not held for it.
func (x *Code) prepare(all []knowledge.CodeEntry) []ready {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]ready, len(all))
	for i := range all {
		out[i].CodeEntry = &all[i]
		if e := &all[i]; e.Tier != code.None {
			out[i].words, out[i].text = x.grams.Words(e.Text), s2.EncodeBetter(nil, []byte(e.Text))
		}
	}
	return out
}

// Change changes a source.
func (x *Code) Change(ctx context.Context, c knowledge.CodeChange) (number int64, err error) {
	state, err := json.Marshal(c.State)
	if err != nil {
		return 0, err
	}
	added := x.prepare(c.Add)
	err = x.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO sources (number, name, state) VALUES ((SELECT coalesce(max(number), 0) + 1 FROM sources), ?1, ?2)
			ON CONFLICT (name) DO UPDATE SET state = ?2 RETURNING number`, c.Source, string(state)).Scan(&number)
		if err != nil {
			return err
		}
		if err := gone(ctx, tx, c.Gone); err != nil {
			return err
		}
		return x.add(ctx, tx, number, added)
	})
	return number, err
}

func gone(ctx context.Context, tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		for _, text := range []string{"DELETE FROM grams WHERE rowid = ?1", "DELETE FROM texts WHERE id = ?1", "DELETE FROM files WHERE id = ?1"} {
			if _, err := tx.ExecContext(ctx, text, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds files within one transaction.
func (x *Code) add(ctx context.Context, tx *sql.Tx, number int64, all []ready) (err error) {
	next := map[code.Tier]int64{}
	for _, e := range all {
		id, known := next[e.Tier]
		if !known {
			first, last := knowledge.CodeIDs(e.Tier, number)
			if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(id) + 1, ?1) FROM files WHERE id BETWEEN ?1 AND ?2", first, last).Scan(&id); err != nil {
				return err
			}
		}
		next[e.Tier] = id + 1
		if _, err := tx.ExecContext(ctx, "INSERT INTO files (id, path, content, size, language) VALUES (?1, ?2, ?3, ?4, ?5)", id, e.Path, e.Content, e.Size, e.Language); err != nil {
			return err
		}
		if e.Tier == code.None {
			continue
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO texts (id, text) VALUES (?1, ?2)", id, e.text); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO grams (rowid, words) VALUES (?1, ?2)", id, e.words); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes a source.
func (x *Code) Drop(ctx context.Context, source string) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		var number int64
		err := tx.QueryRowContext(ctx, "DELETE FROM sources WHERE name = ?1 RETURNING number", source).Scan(&number)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		for tier := code.Program; tier <= code.None; tier++ {
			first, last := knowledge.CodeIDs(tier, number)
			for _, text := range []string{
				"DELETE FROM grams WHERE rowid IN (SELECT id FROM files WHERE id BETWEEN ?1 AND ?2)",
				"DELETE FROM texts WHERE id BETWEEN ?1 AND ?2",
				"DELETE FROM files WHERE id BETWEEN ?1 AND ?2",
			} {
				if _, err := tx.ExecContext(ctx, text, first, last); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// codeStep is how many files one step of a scan gives.
const codeStep = 200

// Scan visits files that may match.
func (x *Code) Scan(ctx context.Context, q knowledge.CodeQuery, visit func(f knowledge.CodeFile) (bool, error)) error {
	for _, r := range rangesOf(q) {
		more, err := x.scan(ctx, q.Need, r[0], r[1], visit)
		if err != nil {
			return fmt.Errorf("searching code: %w", err)
		}
		if !more {
			break
		}
	}
	return nil
}

// rangesOf are the ranges of ids that a query looks at, first and last.
func rangesOf(q knowledge.CodeQuery) [][2]int64 {
	_, end := knowledge.CodeIDs(code.None-1, 1<<28-1)
	if q.Sources == nil {
		return [][2]int64{{q.After + 1, end}}
	}
	var out [][2]int64
	for tier := code.Program; tier < code.None; tier++ {
		for _, number := range q.Sources {
			first, last := knowledge.CodeIDs(tier, number)
			if last > q.After {
				out = append(out, [2]int64{max(first, q.After+1), last})
			}
		}
	}
	return out
}

// scan visits the files of a range; it is not more where visit ended it.
func (x *Code) scan(ctx context.Context, need string, first, last int64, visit func(f knowledge.CodeFile) (bool, error)) (more bool, err error) {
	query := "SELECT id, path, content, size, language FROM files WHERE id BETWEEN ?2 AND ?3 AND ?1 = '' ORDER BY id LIMIT ?4"
	if need != "" {
		query = "SELECT f.id, f.path, f.content, f.size, f.language FROM grams g CROSS JOIN files f ON f.id = g.rowid WHERE g.grams MATCH ?1 AND g.rowid BETWEEN ?2 AND ?3 ORDER BY g.rowid LIMIT ?4"
	}
	for n := 20; ; n = codeStep {
		found, err := x.files(ctx, query, need, first, last, n)
		if err != nil {
			return false, err
		}
		for _, f := range found {
			if more, err := visit(f); err != nil || !more {
				return false, err
			}
		}
		if len(found) < n || found[n-1].ID == math.MaxInt64 {
			return true, nil
		}
		first = found[n-1].ID + 1
	}
}

// Text is the text of a file.
func (x *Code) Text(ctx context.Context, id int64) (string, bool, error) {
	var packed []byte
	err := x.text.QueryRowContext(ctx, id).Scan(&packed)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading code: %w", err)
	}
	text, err := s2.Decode(nil, packed)
	if err != nil {
		return "", false, fmt.Errorf("reading code: %w", err)
	}
	return string(text), true, nil
}
