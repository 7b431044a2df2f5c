package backstage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// The bounds of one request for entities; Backstage's own clients keep to the
// same number of bytes.
const (
	maxRefs     = 500
	maxRefBytes = 89_000 // and what is around the references
)

// Tree is one state of a catalog. Entities are fetched as they are when asked
// for, many at a time: whoever reads one of those that Changes listed gets
// those after it fetched, too. Nothing is kept once it has been read.
type Tree struct {
	src         *Source
	now, before *listing

	// fetching holds one token: who has it may ask and use what follows.
	fetching chan struct{}
	// ahead are the entities that will likely be read, by place in now.
	ahead []int
	// asked are those of ahead that have been fetched.
	asked []bool
	ready map[string]fetched
	held  int64

	once sync.Once
	done chan struct{} // closed by Close
}

// fetched is one entity as the API gives it; nil where there is none.
type fetched struct {
	raw      json.RawMessage
	tooLarge bool
}

var _ ingest.Tree = (*Tree)(nil)

var errClosed = errors.New("the tree is closed")

func newTree(s *Source, now, before *listing) *Tree {
	t := &Tree{src: s, now: now, before: before, fetching: make(chan struct{}, 1), ready: map[string]fetched{}, done: make(chan struct{})}
	t.fetching <- struct{}{}
	return t
}

// Info is zero: a catalog has no commits.
func (t *Tree) Info() ingest.CommitInfo { return ingest.CommitInfo{} }

// Close lets go of what was fetched.
func (t *Tree) Close() error {
	t.once.Do(func() { close(t.done) })
	return nil
}

func (t *Tree) lock(ctx context.Context) error {
	select {
	case <-t.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-t.fetching:
	}
	err := ctx.Err() // of what holds at once, any may have been chosen
	select {
	case <-t.done:
		err = errClosed
	default:
	}
	if err != nil {
		t.unlock()
	}
	return err
}

func (t *Tree) unlock() { t.fetching <- struct{}{} }

// Changes lists the entities whose etag differs from an earlier state, which
// is known if it is that of the tree opened just before. The size of an entity
// is not known before it is fetched.
func (t *Tree) Changes(ctx context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	old, incremental := &listing{}, false
	for _, l := range []*listing{t.before, t.now} {
		if l != nil && since != "" && l.rev == since {
			old, incremental = l, true
		}
	}
	var out []ingest.Change
	var ahead []int
	for i, e := range t.now.items {
		if at, there := old.find(e.path); !there || old.items[at].etag != e.etag {
			out = append(out, ingest.Change{Path: e.path, ID: e.etag})
			ahead = append(ahead, i)
		}
	}
	for _, e := range old.items {
		if _, there := t.now.find(e.path); !there {
			out = append(out, ingest.Change{Path: e.path, Gone: true})
		}
	}
	return out, incremental, t.expect(ctx, ahead)
}

// expect notes which entities will likely be read.
func (t *Tree) expect(ctx context.Context, ahead []int) error {
	select {
	case <-t.fetching:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer t.unlock()
	t.ahead, t.asked = ahead, make([]bool, len(ahead))
	clear(t.ready)
	t.held = 0
	return nil
}

// Read gives an entity's JSON: an error that is ingest.ErrNotFound where the
// tree does not list it or it has vanished since, ingest.ErrTooLarge where it
// exceeds the limit.
func (t *Tree) Read(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, there := t.now.find(path)
	if !there {
		return nil, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
	}
	got, err := t.fetch(ctx, at)
	switch limit := t.src.limits.EntityBytes; {
	case err != nil:
		return nil, t.src.explain(ctx, "reading entities of", err)
	case got.tooLarge:
		return nil, fmt.Errorf("%s has more than %d bytes, the limit: %w", path, limit, ingest.ErrTooLarge)
	case got.raw == nil:
		return nil, fmt.Errorf("%s is no longer there: %w", path, ingest.ErrNotFound)
	}
	data, err := convert(got.raw, t.now.items[at].ref)
	return data, t.src.explain(ctx, "reading entities of", err)
}

// fetch gives one entity: one that was fetched with another, or else asks.
func (t *Tree) fetch(ctx context.Context, at int) (fetched, error) {
	if err := t.lock(ctx); err != nil {
		return fetched{}, err
	}
	defer t.unlock()
	path := t.now.items[at].path
	if got, there := t.ready[path]; there {
		delete(t.ready, path)
		t.held -= int64(len(got.raw))
		return got, nil
	}
	batch, places := t.batch(at)
	got, err := t.ask(ctx, batch)
	if err != nil {
		return fetched{}, err
	}
	if t.held > t.src.maxAnswer { // they were read out of order, and are asked for again
		clear(t.ready)
		t.held = 0
	}
	for i, f := range got {
		if places != nil {
			t.asked[places[i]] = true
		}
		if i > 0 {
			t.ready[t.now.items[batch[i]].path] = f
			t.held += int64(len(f.raw))
		}
	}
	return got[0], nil
}

// batch is an entity and, if it is one that was expected, those after it that
// have not been fetched yet, with their places in t.ahead.
func (t *Tree) batch(at int) (batch, places []int) {
	place := sort.SearchInts(t.ahead, at)
	if place == len(t.ahead) || t.ahead[place] != at || t.asked[place] {
		return []int{at}, nil
	}
	size := 0
	for ; place < len(t.ahead) && len(batch) < maxRefs; place++ {
		if t.asked[place] {
			continue
		}
		if size += written(t.now.items[t.ahead[place]].ref); size > maxRefBytes && len(batch) > 0 {
			break
		}
		batch, places = append(batch, t.ahead[place]), append(places, place)
	}
	return batch, places
}

// written is how many bytes a reference takes in a request, rounded up.
func written(ref string) int {
	n := len(ref) + len(`"",`)
	for i := range len(ref) {
		if c := ref[i]; c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(`"\<>&`, c) >= 0 {
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// ask fetches entities, in order; fewer, but at least one, where the answer
// exceeds its bound.
func (t *Tree) ask(ctx context.Context, batch []int) (out []fetched, err error) {
	refs := make([]string, len(batch))
	for i, at := range batch {
		refs[i] = t.now.items[at].ref
	}
	err = t.src.client.post(ctx, "/entities/by-refs", map[string]any{"entityRefs": refs}, t.src.maxAnswer, func(r *io.LimitedReader) error {
		out, err = t.decode(r, len(refs))
		if err != nil && r.N <= 0 {
			if len(out) == 0 {
				out = []fetched{{tooLarge: true}}
			}
			return nil
		}
		return err
	})
	return slices.Clip(out), err
}

// decode reads {"items": [entity or null, …]} as far as it comes.
func (t *Tree) decode(r io.Reader, want int) (out []fetched, err error) {
	dec := json.NewDecoder(r)
	if err := enter(dec); err != nil {
		return nil, err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return out, damaged(err)
		}
		if len(out) == want {
			return out, strange("it gives more entities than it was asked for")
		}
		f := fetched{raw: raw, tooLarge: int64(len(raw)) > t.src.limits.EntityBytes}
		if f.tooLarge || string(raw) == "null" {
			f.raw = nil
		}
		out = append(out, f)
	}
	if _, err := dec.Token(); err != nil {
		return out, damaged(err)
	}
	if len(out) < want {
		return out, strange("it gives %d entities where %d were asked for", len(out), want)
	}
	return out, nil
}

// enter reads up to the first item.
func enter(dec *json.Decoder) error {
	for _, want := range []json.Token{json.Delim('{'), "items", json.Delim('[')} {
		got, err := dec.Token()
		if err != nil {
			return damaged(err)
		}
		if got != want {
			return strange("what it gives for references has no items")
		}
	}
	return nil
}
