package knowledge

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// maxDocuments is how many documents one source may have; of more, those with
// the shortest paths are read.
const maxDocuments = 50_000

// fetchAtOnce is how many contents are fetched before they are read.
const fetchAtOnce = 500

var (
	_ ingest.Follower = (*Service)(nil)
	_ ingest.Dater    = (*Service)(nil)
)

// Restore brings back what was kept. Call it before anything is followed.
func (s *Service) Restore(ctx context.Context) error {
	return s.keeper.Each(ctx, func(source string, st State, cards []*Card) {
		next := newShelf(st)
		for _, c := range cards {
			next.add(c)
			s.library.last.Store(max(s.library.last.Load(), c.ID))
		}
		if st.Format != Format { // its cards are there to be replaced
			next.state.Revision = ""
		}
		s.library.put(source, next)
	})
}

// Followed is the revision of a source that was read last.
func (s *Service) Followed(source ingest.Description) ingest.Revision {
	if f := s.library.shelf(source.Name); f != nil && f.state.FileBytes == source.FileBytes {
		return f.state.Revision
	}
	return ""
}

// Dates tells whether a file of this path may be a document.
func (s *Service) Dates(path string) bool { return document.Wanted(path) }

// Follow reads the documents of a revision that changed.
func (s *Service) Follow(ctx context.Context, v ingest.View) error {
	old := s.library.shelf(v.Source.Name)
	if old == nil {
		old = &shelf{}
	}
	next := newShelf(State{Format: Format, Revision: v.Revision, Info: v.Info, FileBytes: v.Source.FileBytes, URL: v.Source.Repository})
	same := old.state.Format == Format && old.state.FileBytes == next.state.FileBytes
	var todo []string
	for _, at := range s.wanted(ctx, v) {
		if c := old.cards[at]; c != nil && c.Content == v.Files[at] && same {
			next.add(c)
			continue
		}
		todo = append(todo, at)
	}
	b := Batch{State: next.state, Entries: s.read(ctx, v, todo, next)}
	for at, c := range old.cards {
		if next.cards[at] != c {
			b.Gone = append(b.Gone, c.ID)
		}
	}
	if err := s.keeper.Replace(ctx, v.Source.Name, b); err != nil {
		return err
	}
	s.library.put(v.Source.Name, next)
	return nil
}

// wanted are the paths of documents, sorted. One that holds a secret names
// none, for handles could not name it without.
func (s *Service) wanted(ctx context.Context, v ingest.View) []string {
	out := slices.Sorted(maps.Keys(v.Files))
	out = slices.DeleteFunc(out, func(at string) bool { return !document.Wanted(at) || access.Redact(at) != at })
	if len(out) > maxDocuments {
		s.log.WarnContext(ctx, "a source has more documents than are read, those with the longest paths are left out", "source", v.Source.Name, "documents", len(out), "read", maxDocuments)
		slices.SortStableFunc(out, func(a, b string) int { return len(a) - len(b) })
		out = out[:maxDocuments]
		slices.Sort(out)
	}
	return out
}

// read reads documents one after the other, and puts their cards on the shelf.
func (s *Service) read(ctx context.Context, v ingest.View, todo []string, next *shelf) func(yield func(*Entry, error) bool) {
	return func(yield func(*Entry, error) bool) {
		for some := range slices.Chunk(todo, fetchAtOnce) {
			if err := ingest.Fetch(ctx, v.Tree, some); err != nil {
				yield(nil, err)
				return
			}
			for _, at := range some {
				d, err := s.readOne(ctx, v, at)
				if err == nil && d == nil {
					continue
				}
				if err != nil {
					yield(nil, err)
					return
				}
				c := &Card{ID: s.library.id(), Source: v.Source.Name, Path: at, Content: v.Files[at], Meta: d.Meta}
				next.add(c)
				if !yield(&Entry{Card: c, Sections: d.Sections, Text: d.Text}, nil) {
					return
				}
			}
		}
	}
}

// readOne reads a document; nil where there is no such file.
func (s *Service) readOne(ctx context.Context, v ingest.View, at string) (*document.Document, error) {
	data, err := v.Tree.Read(ctx, at)
	switch {
	case errors.Is(err, ingest.ErrTooLarge):
		return document.TooLarge(at), nil
	case errors.Is(err, ingest.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return document.Read(at, data), nil
	}
}

// Drop forgets a source that is gone.
func (s *Service) Drop(ctx context.Context, source string) error {
	s.library.put(source, nil)
	return s.keeper.Drop(ctx, source)
}
