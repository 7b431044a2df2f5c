package git

import (
	"container/heap"
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

var (
	_ ingest.Historian  = (*Source)(nil)
	_ ingest.Descendant = (*Tree)(nil)
)

// historian is a reader that can look back.
type historian interface {
	lastChanges(ctx context.Context, q ingest.Question) (ingest.Answer, error)
}

// LastChanges looks files up in the history of a commit: of a repository on
// disk in the repository itself, of a remote one in commits and folders that
// are fetched for it and not kept.
func (s *Source) LastChanges(ctx context.Context, q ingest.Question) (ingest.Answer, error) {
	h, ok := s.reader.(historian)
	if !ok || len(q.Paths) == 0 {
		return ingest.Answer{}, ctx.Err()
	}
	return h.lastChanges(ctx, q)
}

// Parents are the commits that the tree's own follows.
func (t *Tree) Parents() []ingest.Revision {
	out := make([]ingest.Revision, len(t.commit.parents))
	for i, p := range t.commit.parents {
		out[i] = ingest.Revision(p.String())
	}
	return out
}

// pastWalk follows files backwards through the commits of one database, all of
// them together: a commit is looked at once for all files that it has.
type pastWalk struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call
	db     *objects.DB
	base   objects.ID
	left   int  // commits that may still be looked at
	short  bool // some line of history is not there to its end
	fronts fronts
	at     map[objects.ID]*front
	answer ingest.Answer
}

// lookBack finds the last changes of files from a commit on; so many commits
// are looked at at most. What they do not tell is left out of the answer; short
// tells that there is more history than could be looked at.
func lookBack(ctx context.Context, db *objects.DB, tip objects.ID, q ingest.Question, commits int) (_ ingest.Answer, short bool, err error) {
	w := &pastWalk{ctx: ctx, db: db, left: commits, at: map[objects.ID]*front{}, answer: noAnswer()}
	w.base, _ = objects.ParseID(string(q.Base))
	c, err := readCommit(db, tip)
	if err != nil {
		return w.answer, false, err
	}
	there, _, err := compareWanted(db, c.tree, c.tree, wantedOf(q.Paths), true)
	if err != nil {
		return w.answer, false, err
	}
	w.push(c, there)
	for len(w.fronts) > 0 && w.left > 0 {
		if err := w.step(); err != nil {
			return w.answer, false, err
		}
	}
	return w.answer, w.short || len(w.fronts) > 0, nil
}

func noAnswer() ingest.Answer {
	return ingest.Answer{Changed: map[string]ingest.CommitInfo{}, AsBase: map[string]bool{}}
}

// front is a commit and the files that are as they are in it.
type front struct {
	commit commit
	files  *wanted
}

// push has a commit looked at for some more files.
func (w *pastWalk) push(c commit, files *wanted) {
	if files == nil {
		return
	}
	if f := w.at[c.id]; f != nil {
		f.files = f.files.with(files)
		return
	}
	f := &front{c, files}
	w.at[c.id] = f
	heap.Push(&w.fronts, f)
}

// step looks at the newest commit that is left: what a parent has the same is
// followed there, what none has the same was changed here.
func (w *pastWalk) step() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.left--
	f, _ := heap.Pop(&w.fronts).(*front)
	delete(w.at, f.commit.id)
	if f.commit.id == w.base {
		f.files.each("", func(path string) { w.answer.AsBase[path] = true })
		return nil
	}
	rest := f.files
	for _, id := range f.commit.parents {
		if rest == nil {
			return nil
		}
		same, differ, err := w.compare(f.commit, id, rest)
		if errors.Is(err, objects.ErrNotFound) {
			w.short = true // nothing can be known of what is left
			return nil
		}
		if err != nil {
			return err
		}
		w.push(same.commit, same.files)
		rest = differ
	}
	if !f.commit.info.Time.IsZero() { // some commits tell no time that can be
		rest.each("", func(path string) { w.answer.Changed[path] = f.commit.info })
	}
	return nil
}

// compare parts files into those that a parent has the same, and others.
func (w *pastWalk) compare(c commit, parent objects.ID, files *wanted) (same front, differ *wanted, err error) {
	if same.commit, err = readCommit(w.db, parent); err != nil {
		return same, nil, err
	}
	same.files, differ, err = compareWanted(w.db, c.tree, same.commit.tree, files, false)
	return same, differ, err
}

// fronts is a heap, newest first: commits that several lines of history lead
// to are then mostly looked at once.
type fronts []*front

// Len is how many there are.
func (h fronts) Len() int { return len(h) }

// Less puts the newer commit first.
func (h fronts) Less(i, j int) bool { return h[i].commit.info.Time.After(h[j].commit.info.Time) }

// Swap exchanges two.
func (h fronts) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push adds one at the end.
func (h *fronts) Push(x any) {
	f, _ := x.(*front)
	*h = append(*h, f)
}

// Pop takes the last one.
func (h *fronts) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
