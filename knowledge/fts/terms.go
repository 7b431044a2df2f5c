package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxTermsKept is for how many words is remembered what they are in the index.
const maxTermsKept = 20_000

// tokenizer is how the index makes words of texts.
const tokenizer = "tokenize = 'porter unicode61 remove_diacritics 2'" //nolint:gosec // of words, no secret

// scratch makes words of a few texts as the index does.
const scratch = `
CREATE VIRTUAL TABLE IF NOT EXISTS asked USING fts5 (word, ` + tokenizer + `);
CREATE VIRTUAL TABLE IF NOT EXISTS became USING fts5vocab (asked, 'instance');`

// terms tells what words are in the index: "services" is "servic" there. FTS5
// alone knows, so it is asked, in a database in memory.
type terms struct {
	db *sql.DB

	mu    sync.Mutex // guards known
	known map[string]string
}

// of gives the terms of words. Of one that is several to the index, they have a
// space between them; of one that is none it is "".
func (t *terms) of(ctx context.Context, words []string) ([]string, error) {
	out := make([]string, len(words))
	var ask []int
	t.mu.Lock()
	for i, w := range words {
		known, ok := t.known[w]
		if out[i] = known; !ok {
			ask = append(ask, i)
		}
	}
	t.mu.Unlock()
	if len(ask) == 0 {
		return out, nil
	}
	if err := t.learn(ctx, words, ask, out); err != nil {
		return nil, fmt.Errorf("taking words for the index: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) > maxTermsKept {
		t.known = make(map[string]string, len(words))
	}
	for _, i := range ask {
		t.known[words[i]] = out[i]
	}
	return out, nil
}

// learn asks for the terms of some of the words.
func (t *terms) learn(ctx context.Context, words []string, which []int, out []string) (err error) {
	if _, err := t.db.ExecContext(ctx, scratch); err != nil {
		return err
	}
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }() // it is to forget them
	for _, i := range which {
		if _, err := tx.ExecContext(ctx, "INSERT INTO asked (rowid, word) VALUES (?1, ?2)", i+1, words[i]); err != nil {
			return err
		}
	}
	rows, err := tx.QueryContext(ctx, "SELECT doc, term FROM became ORDER BY doc, offset")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at int
		var term string
		if err := rows.Scan(&at, &term); err != nil {
			return err
		}
		out[at-1] = strings.TrimSpace(out[at-1] + " " + term)
	}
	return rows.Err()
}

// written finds a word that becomes each of some terms, "" where none is found:
// FTS5 takes words alone, and few terms become themselves.
func (t *terms) written(ctx context.Context, all []string) ([]string, error) {
	ends := []string{"", "e", "s", "ed", "ing", "y", "er"}
	try := make([]string, 0, len(all)*len(ends))
	for _, term := range all {
		for _, end := range ends {
			try = append(try, term+end)
		}
	}
	found, err := t.of(ctx, try)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(all))
	for i, term := range all {
		some := found[i*len(ends) : (i+1)*len(ends)]
		if at := slices.Index(some, term); at >= 0 {
			out[i] = term + ends[at]
		}
	}
	return out, nil
}
