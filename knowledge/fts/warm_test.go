package fts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

// put adds documents with ids from first to last that hold a word.
func put(t *testing.T, x *fts.Index, word string, first, last int64, gone ...int64) {
	t.Helper()
	var add []*knowledge.Entry
	for id := first; id <= last; id++ {
		add = append(add, entry(id, "# Page\n\n## Services\n\n"+word+" is pursued by databases.\n"))
	}
	if err := x.Replace(t.Context(), "s", knowledge.Batch{Gone: gone, Entries: entries(add...)}); err != nil {
		t.Fatal(err)
	}
}

// anew is an index of the same documents that knows no common word.
func anew(t *testing.T, local *store.Local) *fts.Index {
	t.Helper()
	if _, err := local.Write.ExecContext(t.Context(), "DELETE FROM common"); err != nil {
		t.Fatal(err)
	}
	return index(t, local)
}

// TestCommonWordsAreReadAhead: what is found with words that were read ahead,
// in this process or one before, is what is found without, whatever changed since.
func TestCommonWordsAreReadAhead(t *testing.T) {
	local, x := open(t)
	put(t, x, "latency", 1, 2500)
	words, bytes, err := x.Warm(t.Context())
	if err != nil || words < 5 || bytes == 0 {
		t.Fatalf("%d words in %d bytes, %v", words, bytes, err)
	}
	var count int
	if err := local.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM common").Scan(&count); err != nil || count != words {
		t.Fatalf("%d of %d words are saved, %v", count, words, err)
	}
	queries := [][]string{{"latency"}, {"queue"}, {"services", "latency"}, {"database", "pursue"}, {"database", "service", "page", "queue"}}
	same := func(step string, x *fts.Index) {
		t.Helper()
		fresh := anew(t, local)
		for _, q := range queries {
			query := knowledge.Query{Words: q, Near: []int64{1, 2499, 2500, 2501, 2502, 2503}, Enough: 10}
			if got, want := fmt.Sprint(find(t, x, query)), fmt.Sprint(find(t, fresh, query)); got != want {
				t.Fatalf("%s, %v:\n%.300s, not\n%.300s", step, q, got, want)
			}
		}
	}
	again := index(t, local) // as after a restart
	put(t, again, "queue", 2501, 2502, 1)
	same("after changes", again)
	if words, _, err = again.Warm(t.Context()); err != nil || words < 5 {
		t.Fatal(words, err)
	}
	// The documents with the highest ids go, and after a start their ids are
	// given again.
	put(t, again, "queue", 1, 0, 2502, 2501, 2500)
	third := index(t, local)
	put(t, third, "queue", 2500, 2501)
	same("ids given again", third)
	same("and after another start", index(t, local))
}

func TestDamagedCommonWordsAreReadAgain(t *testing.T) {
	local, x := open(t)
	put(t, x, "latency", 1, 2100)
	if _, _, err := x.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Write.ExecContext(t.Context(), "UPDATE common SET body = x'0102', headings = x''"); err != nil {
		t.Fatal(err)
	}
	if out := find(t, index(t, local), knowledge.Query{Words: []string{"latency"}}); len(out.Matches) != 1000 {
		t.Errorf("%d are found", len(out.Matches))
	}
}

func TestKeepWarm(t *testing.T) {
	local, x := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.KeepWarm(ctx) }()
	put(t, x, "latency", 1, 2100)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var count int
		if err := local.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM common").Scan(&count); err != nil {
			t.Fatal(err)
		}
		if count > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no common words were read after many documents came")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
