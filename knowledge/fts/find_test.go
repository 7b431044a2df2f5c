package fts_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/document"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

func open(t *testing.T) (*store.Local, *fts.Index) {
	t.Helper()
	local, err := store.OpenKnowledge(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return local, index(t, local)
}

func index(t *testing.T, local *store.Local) *fts.Index {
	t.Helper()
	x, err := fts.New(t.Context(), local.Read, local.Write, local.Scratch)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func entry(id int64, text string) *knowledge.Entry {
	d := document.Read(fmt.Sprintf("docs/%d.md", id), []byte(text))
	return &knowledge.Entry{Card: &knowledge.Card{ID: id, Source: "s", Path: fmt.Sprintf("docs/%d.md", id), Meta: d.Meta}, Sections: d.Sections, Text: d.Text}
}

func entries(list ...*knowledge.Entry) iter.Seq2[*knowledge.Entry, error] {
	return func(yield func(*knowledge.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func find(t *testing.T, x *fts.Index, q knowledge.Query) *knowledge.Found {
	t.Helper()
	out, err := x.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(out.Matches, func(a, b knowledge.Match) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// TestFindFollowsChanges makes many changes, and holds what is found after
// each to what an index finds that remembers nothing.
func TestFindFollowsChanges(t *testing.T) {
	local, x := open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields("latency queue deploy kafka pool restart")
	live := map[string][]int64{}
	id := int64(0)
	for round := range 120 {
		source := fmt.Sprint("s", rng.IntN(4))
		if round%29 == 28 {
			if err := x.Drop(t.Context(), source); err != nil {
				t.Fatal(err)
			}
			delete(live, source)
		} else {
			b := knowledge.Batch{}
			have := live[source]
			n := rng.IntN(len(have) + 1)
			b.Gone, have = slices.Clone(have[:n]), slices.Clone(have[n:])
			var add []*knowledge.Entry
			for range rng.IntN(6) {
				id++
				have = append(have, id)
				text := "# " + vocabulary[rng.IntN(6)] + "\n\n## " + vocabulary[rng.IntN(6)] + "\n\n" + vocabulary[rng.IntN(6)] + " " + vocabulary[rng.IntN(6)] + "\n"
				add = append(add, entry(id, text))
			}
			b.Entries, live[source] = entries(add...), have
			if err := x.Replace(t.Context(), source, b); err != nil {
				t.Fatal(err)
			}
		}
		words := []string{vocabulary[rng.IntN(6)], vocabulary[rng.IntN(6)]}
		q := knowledge.Query{Words: words[:1+rng.IntN(2)], Enough: 1000}
		got, want := find(t, x, q), find(t, index(t, local), q)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d, %v: found\n%v, not\n%v", round, q.Words, got, want)
		}
	}
}

func TestFindChooses(t *testing.T) {
	_, x := open(t)
	var add []*knowledge.Entry
	for id := int64(1); id <= 3000; id++ {
		text := "# Page\n\nThe deploy of a service.\n"
		switch {
		case id%1000 == 7:
			text += "It uses pgbouncer.\n"
		case id > 2900:
			text = "# Deploy\n\nThe service of a page.\n"
		}
		add = append(add, entry(id, text))
	}
	if err := x.Replace(t.Context(), "s", knowledge.Batch{Entries: entries(add...)}); err != nil {
		t.Fatal(err)
	}
	even := func(id int64) bool { return id%2 == 0 }
	for _, c := range []struct {
		name       string
		q          knowledge.Query
		count      int
		more       bool
		has, lacks []int64
	}{
		{"common words: the best thousand", knowledge.Query{Words: []string{"deploy", "service"}, Enough: 20}, 1000, true, []int64{2950, 2901, 2900}, []int64{1}},
		{"those that the caller sees", knowledge.Query{Words: []string{"deploy"}, Keep: func(id int64) bool { return id < 9 }}, 8, false, []int64{1, 8}, []int64{9}},
		{"no more than are kept", knowledge.Query{Words: []string{"deploy"}, Keep: even}, 1000, true, []int64{2950}, []int64{2951, 2}},
		{"near ones in any case", knowledge.Query{Words: []string{"deploy"}, Near: []int64{2, 3, 9999}, Keep: even}, 1000, true, []int64{2}, []int64{3}},
		{"all with every word", knowledge.Query{Words: []string{"pgbouncer", "service"}, Enough: 3}, 3, false, []int64{7, 1007, 2007}, nil},
		{"too few with every word", knowledge.Query{Words: []string{"pgbouncer", "service"}, Enough: 20}, 3, false, []int64{7}, []int64{8}}, // service alone tells nothing
		{"an unknown word", knowledge.Query{Words: []string{"zebra", "pgbouncer"}, Enough: 20}, 3, false, []int64{7}, nil},
		{"the beginning of a word", knowledge.Query{Words: []string{"pgbou"}}, 3, false, []int64{7}, nil},
		{"nothing", knowledge.Query{Words: []string{"zebra"}}, 0, false, nil, nil},
		{"no words", knowledge.Query{}, 0, false, nil, nil},
		{"more words than are looked for", knowledge.Query{Words: slices.Repeat([]string{"pgbouncer"}, 40)}, 3, false, []int64{7}, nil},
	} {
		out := find(t, x, c.q)
		var ids []int64
		for _, m := range out.Matches {
			ids = append(ids, m.ID)
			if m.Share <= 0 || m.Share > 1 || m.Text < 0 {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		missing := slices.DeleteFunc(c.has, func(id int64) bool { return slices.Contains(ids, id) })
		extra := slices.DeleteFunc(c.lacks, func(id int64) bool { return !slices.Contains(ids, id) })
		if len(ids) != c.count || out.More != c.more || len(missing) > 0 || len(extra) > 0 || len(out.Weights) != len(c.q.Words) {
			t.Errorf("%s: %d found, more %v, without %v, with %v, weights %v", c.name, len(ids), out.More, missing, extra, out.Weights)
		}
	}
	if w := find(t, x, knowledge.Query{Words: []string{"service", "pgbouncer"}}).Weights; w[1] < 5*w[0] {
		t.Errorf("weights are %v", w)
	}
}

// TestFindBesideChanges looks for words while documents come and go: what was
// there all the time is always found.
func TestFindBesideChanges(t *testing.T) {
	_, x := open(t)
	if err := x.Replace(t.Context(), "stays", knowledge.Batch{Entries: entries(entry(1, "# Latency\n"), entry(2, "# Queue latency\n"))}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				out, err := x.Find(t.Context(), knowledge.Query{Words: []string{"latency", "queue"}, Near: []int64{1, 2}})
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range []int64{1, 2} {
					if !slices.ContainsFunc(out.Matches, func(m knowledge.Match) bool { return m.ID == id }) {
						t.Errorf("document %d is not found", id)
						return
					}
				}
			}
		})
	}
	for id := int64(3); id < 150; id++ {
		b := knowledge.Batch{Entries: entries(entry(id, "# Queue latency\n"))}
		if id > 3 {
			b.Gone = []int64{id - 1}
		}
		if err := x.Replace(t.Context(), "moves", b); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
	if out := find(t, x, knowledge.Query{Words: []string{"queue"}}); len(out.Matches) != 2 || out.Matches[1].ID != 149 {
		t.Errorf("in the end there are %+v", out.Matches)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if _, err := x.Find(done, knowledge.Query{Words: []string{"unheard"}}); err == nil {
		t.Error("a cancelled search answers")
	}
}
